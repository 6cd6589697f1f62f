/**
 * The modules of an application for the graph, with the methods of their classes that others call. The providers of the builder that no
 * module lists are one more module, with the name `""`.
 */
import { Policy } from "../../contracts/policy.js";
import { listCommands } from "../../commands/command.js";
import type { Container, Resolver } from "../../di/container.js";
import type { ModuleDescription } from "../../di/inspection.js";
import type { Binding } from "../../di/provide.js";
import { describeToken, type InjectionToken } from "../../di/token.js";
import { getListenerMethods } from "../../events/on.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import { isClass } from "../../runtime/class.js";

export interface GraphModule {
  /** `""` for the providers of the builder. */
  readonly name: string;
  readonly imports: readonly string[];
  readonly exports: readonly string[];
  readonly controllers: readonly string[];
  readonly providers: readonly string[];
  readonly middleware: readonly string[];
  /** The policies among the providers. */
  readonly policies: readonly string[];
  /** The pages of its routes, sorted by name. */
  readonly pages: readonly string[];
  /** `Announcer.announce on link.created`, for each listener of a provider or controller. */
  readonly listeners: readonly string[];
  /** `WelcomeMails.send on mail.welcome`, for each method of a provider or controller that handles a job. */
  readonly jobs: readonly string[];
  /** `Sweeper.sweep on links.sweep`, for each method of a provider or controller that a schedule calls. */
  readonly schedules: readonly string[];
  /** `Reports.send on reports:send`, for each command of a provider or controller. */
  readonly commands: readonly string[];
}

/** A module, with the instances of its providers and controllers. */
export interface GraphedModule {
  readonly description: Omit<ModuleDescription, "module">;
  readonly instances: ReadonlyMap<InjectionToken, unknown>;
}

/** @param bindings those of the builder */
export function readModules(
  modules: readonly ModuleDescription[],
  bindings: readonly Binding[],
  container: Container,
): readonly GraphedModule[] {
  const listed = new Set(modules.flatMap(({ providers }) => providers));
  const providers = [...new Set(bindings.map(({ token }) => token))].filter((token) => !listed.has(token));
  const ofModules = modules.map((each) => readModule(each, container.in(each.module)));
  return providers.length === 0 ? ofModules : [...ofModules, readModule({ ...NO_MODULE, providers }, container)];
}

const NO_MODULE: GraphedModule["description"] = {
  name: "",
  imports: [],
  exports: [],
  controllers: [],
  providers: [],
  middleware: [],
  events: [],
};

function readModule(description: GraphedModule["description"], scope: Resolver): GraphedModule {
  const tokens = [...description.providers, ...description.controllers];
  return { description, instances: new Map(tokens.map((token) => [token, scope.get(token)])) };
}

export function describeModule(
  { description, instances }: GraphedModule,
  subsystems: readonly Subsystem[],
): Omit<GraphModule, "pages"> {
  const { name, imports, exports, controllers, providers, middleware } = description;
  // Several tokens may have one instance.
  const objects = [...new Set(instances.values())].filter((each) => typeof each === "object" && each !== null);
  const work = objects.flatMap((each) => subsystems.flatMap((subsystem) => subsystem.describeProvider?.(each) ?? []));
  return {
    commands: listCommands(objects).map((each) => `${each.place} on ${each.name}`),
    controllers: controllers.map(describeToken),
    exports: exports.map(describeToken),
    imports: imports.map(describeToken),
    jobs: [...new Set(work.flatMap(({ jobs }) => jobs))],
    listeners: objects.flatMap(describeListeners),
    middleware: middleware.map(describeToken),
    name,
    policies: providers.filter((token) => isPolicy(token, instances.get(token))).map(describeToken),
    providers: providers.map(describeToken),
    schedules: [...new Set(work.flatMap(({ schedules }) => schedules))],
  };
}

/** A test may bind an object that is no policy in the place of one. */
function isPolicy(token: InjectionToken, instance: unknown): boolean {
  return instance instanceof Policy || (isClass(token) && token.prototype instanceof Policy);
}

function describeListeners(instance: object): readonly string[] {
  const { name } = instance.constructor;
  return getListenerMethods(instance).map(({ event, key }) => `${name}.${String(key)} on ${event.name}`);
}
