/**
 * From the root module to a checked graph: walks the modules, ties every constructor parameter to a provider, and collects everything
 * that is wrong before anything is built. The application room asks once, adds its own findings, and builds.
 *
 * @example
 * const { findings, modules, build } = inspect({ root: ShopModule, bindings, defaults });
 * if (findings.length > 0) throw new StartupError(findings);
 * const container = build();
 */
import { isClass, type InjectionToken } from "./token.js";
import type { InspectionOptions, InspectionResult, ModuleDescription } from "./inspection.js";
import { Binding } from "./provide.js";
import { ApplicationScope, checkBinding, walkModules, type ModuleScope, type Scope } from "./module-scope.js";
import { Provider } from "./provider.js";
import { StartupError, type Diagnostic } from "../errors/diagnostic.js";
import { InstanceBuilder } from "./instances.js";
import { Container } from "./container.js";
import { depthFirst } from "./depth-first.js";
import { dependencyCycle, unusedOverride } from "./diagnostics.js";
import { explainMissing, DependencyWiring } from "./dependencies.js";

// A test double for something nothing injects would pass a test that proves nothing: it is refused. What only a factory resolves is seen
// when the factory runs, so that the last word falls after the build.

/** The slots of doubles that neither a constructor nor the framework asks for. */
export function unusedOverrides(
  application: ApplicationScope,
  { overrides = [], isCollected = () => false }: InspectionOptions,
  asked: ReadonlySet<Provider>,
): readonly Provider[] {
  const tokens = new Set(overrides.filter((double) => double instanceof Binding).map(({ token }) => token));
  const slots = [...application.bindings.values()].filter(({ token }) => tokens.has(token));
  return slots.filter((slot) => !asked.has(slot) && !isForFramework(slot, application, isCollected));
}

/** The framework asks by itself for its defaults and for the classes it collects; a class behind a token counts like the token. */
function isForFramework(
  { token }: Provider,
  application: ApplicationScope,
  collects: NonNullable<InspectionOptions["isCollected"]>,
): boolean {
  if (application.defaults.has(token)) return true;
  const replaced = application.holders(token).map(({ own }) => own.get(token)?.source);
  const classes = replaced.flatMap((source) => (source?.kind === "class" ? source.implementation : []));
  return [token, ...classes].some((candidate) => isClass(candidate) && collects(candidate));
}

// Twins: one class under one token, listed by several modules, to be given the very same things. They are one instance, so that what is
// provided exists once in an application, whoever lists it. Where the modules' own bindings give them different things, they stay two.

/** Which slots another one stands for, from a list of wired slots that has dependencies first; ties what depends on them anew. */
export function sharedInstancesIn(order: readonly Provider[]): ReadonlyMap<Provider, Provider> {
  const twins = new Map<Provider, Provider>();
  const firsts = new Map<unknown, Provider[]>();
  for (const slot of order) {
    slot.dependencies = slot.dependencies.map((dependency) => twins.get(dependency) ?? dependency);
    if (slot.source.kind !== "class") continue;
    const others = firsts.get(slot.source.implementation) ?? [];
    const twin = others.find((other) => isTwin(other, slot));
    if (twin === undefined) firsts.set(slot.source.implementation, [...others, slot]);
    else twins.set(slot, twin);
  }
  return twins;
}

/** Of two slots of one class. */
function isTwin(one: Provider, other: Provider): boolean {
  return one.token === other.token && one.dependencies.every((dependency, at) => dependency === other.dependencies[at]);
}

/** A graph without faults, as far as that can be known before anything runs. */
interface Plan {
  readonly application: ApplicationScope;
  readonly order: readonly Provider[];
  /** Doubles that only a factory may still ask for. */
  readonly idle: readonly Provider[];
}

/** Checks a graph; builds nothing of it. */
export function inspect(input: InspectionOptions): InspectionResult {
  const findings: Diagnostic[] = [];
  const application = new ApplicationScope();
  bindAll(application, input, findings);
  const modules = input.root === undefined ? [] : walkModules(input.root, application, findings);
  const wiring = new DependencyWiring(application);
  const live = liveSlots(application, modules, input, wiring.asked);
  wiring.wire([...live, ...application.defaults.values()]);
  const { postorder: all, cycles } = depthFirst(live, ({ dependencies }) => dependencies);
  const order = unite(application, all);
  askFor(application, input, wiring.asked, findings);
  findings.push(...wiring.diagnostics(), ...cycles.map(dependencyCycle));
  const idle = unusedOverrides(application, input, wiring.asked);
  if (!order.some(({ source }) => source.kind === "factory")) findings.push(...idle.map(unusedOverride));
  const build = (): Container => buildAll({ application, order, idle }, findings);
  return { diagnostics: findings, modules: application.modules.map(describe), build };
}

/** Fills the application's own tables; the doubles come last and so win. */
function bindAll(application: ApplicationScope, input: InspectionOptions, findings: Diagnostic[]): void {
  const put = (table: Map<InjectionToken, Provider>, list: readonly Binding[] = [], what: string): void => {
    for (const [index, binding] of list.entries()) {
      const fault = checkBinding(binding, `${what} ${index + 1} of the application`);
      if (fault === undefined) table.set(binding.token, new Provider(binding.token, binding.source, application));
      else findings.push(fault);
    }
  };
  put(application.bindings, input.bindings, "binding");
  put(application.bindings, input.overrides, "double");
  put(application.defaults, input.defaults, "default");
}

/** Everything that is built whether or not something injects it, in the order to begin with. */
function liveSlots(
  application: ApplicationScope,
  modules: readonly ModuleScope[],
  { extras = () => [] }: InspectionOptions,
  asked: Set<Provider>,
): readonly Provider[] {
  const live = new Set(application.bindings.values());
  const addMembers = (scope: Scope, members: readonly unknown[]): void => {
    for (const member of members.filter(isClass)) {
      const slot = scope.providerOf(member);
      asked.add(slot);
      live.add(slot);
    }
  };
  for (const scope of modules) {
    const { controllers, middleware } = scope.definition;
    for (const [token, slot] of scope.own) if (!application.bindings.has(token)) live.add(slot);
    addMembers(scope, [...controllers, ...middleware, ...extras(scope.module), scope.module]);
  }
  addMembers(application, extras(undefined));
  return [...live];
}

/** Lets one slot stand for all of its twins; the order of those that are left. */
function unite(application: ApplicationScope, order: readonly Provider[]): readonly Provider[] {
  const twins = sharedInstancesIn([...new Set([...order, ...application.defaults.values()])]);
  for (const scope of [application, ...application.modules]) scope.replace(twins);
  return order.filter((slot) => !twins.has(slot));
}

function askFor(
  application: ApplicationScope,
  { requiredTokens = [] }: InspectionOptions,
  asked: Set<Provider>,
  findings: Diagnostic[],
): void {
  for (const { token, requiredBy, optional = false } of requiredTokens) {
    const slot = application.reach(token);
    if (slot !== undefined) asked.add(slot);
    else if (!optional) findings.push({ ...explainMissing(application, application, token), where: requiredBy });
  }
}

function describe({ module, name, definition, own, imports }: ModuleScope): ModuleDescription {
  const { controllers, exports, middleware } = definition;
  const imported = [...new Set(imports.map((scope) => scope.module))];
  return { module, name, imports: imported, exports, controllers, providers: [...own.keys()], middleware };
}

function buildAll({ application, order, idle }: Plan, findings: readonly Diagnostic[]): Container {
  if (findings.length > 0) throw new StartupError(findings);
  const assembly = new InstanceBuilder(application);
  const container = new Container(application, assembly);
  const failures = assembly.build(order);
  // A factory that failed may have been about to ask for the double.
  const unused = failures.length > 0 ? [] : idle.filter((slot) => !assembly.asked.has(slot));
  if (failures.length + unused.length === 0) return container;
  // What was built is let go in the background: the news is why the start failed.
  container.dispose().catch(() => undefined);
  throw failedStart([...failures.map(({ diagnostic }) => diagnostic), ...unused.map(unusedOverride)], failures);
}

function failedStart(findings: readonly Diagnostic[], failures: readonly { readonly cause?: unknown }[]): StartupError {
  const causes = failures.flatMap((failure) => ("cause" in failure ? [failure.cause] : []));
  if (causes.length === 0) return new StartupError(findings);
  return new StartupError(findings, { cause: causes.length === 1 ? causes[0] : new AggregateError(causes) });
}
