/**
 * From the root module to a checked graph: collects the modules, wires every constructor parameter to a provider, and collects every
 * diagnostic before the first instance is built. Two kinds of provider have a special rule: a class that several modules list in the same
 * way is one shared instance, and a test override must be used.
 *
 * @example
 * const { diagnostics, modules, build } = inspect({ root: ShopModule, bindings, defaults });
 * if (diagnostics.length > 0) throw new StartupError(diagnostics);
 * const container = build();
 */
import { StartupError, type Diagnostic } from "../errors/diagnostic.js";
import { Container } from "./container.js";
import { DependencyWiring } from "./dependencies.js";
import { depthFirst } from "./depth-first.js";
import { dependencyCycle, unusedOverride } from "./diagnostics.js";
import type { InspectionOptions, InspectionResult, ModuleDescription } from "./inspection.js";
import { InstanceBuilder } from "./construction/instances.js";
import { explainMissing, mergeMissing } from "./missing-provider.js";
import { checkBinding, collectModules } from "./module-collection.js";
import { ApplicationScope, type ModuleScope, type Scope } from "./module-scope.js";
import { Binding } from "./provide.js";
import { Provider } from "./provider.js";
import { groupProviders } from "./construction/shared-instances.js";
import type { InjectionToken } from "./token.js";
import { isClass } from "../runtime/class.js";

/** A graph without the faults that can be found before constructors and factories run. */
interface BuildPlan {
  readonly application: ApplicationScope;
  readonly order: readonly Provider[];
  /** Test overrides that only factories and `inject` can still resolve, which is known when all constructors have run. */
  readonly unusedOverrides: readonly Provider[];
}

/** Checks a graph, and builds no instance. */
export function inspect(options: InspectionOptions): InspectionResult {
  const diagnostics: Diagnostic[] = [];
  const application = new ApplicationScope(options.name);
  bindAll(application, options, diagnostics);
  const modules = options.root === undefined ? [] : collectModules(options.root, application, diagnostics);
  const wiring = new DependencyWiring(application);
  const roots = listProvidersToBuild(application, modules, options, wiring.used);
  wiring.wire([...roots, ...application.defaults.values()]);
  const { postorder: order, cycles } = depthFirst(roots, ({ dependencies }) => dependencies);
  groupProviders([...order, ...application.defaults.values()]);
  checkRequired(application, options, wiring.used, diagnostics);
  diagnostics.push(...wiring.diagnostics(), ...cycles.map(dependencyCycle));
  const unusedOverrides = findUnusedOverrides(application, options, wiring.used);
  const build = (): Container => buildAll({ application, order, unusedOverrides }, diagnostics);
  return { diagnostics, modules: application.modules.map(describe), build };
}

/** Fills the tables of the application. The test overrides come last, so they override the bindings. */
function bindAll(application: ApplicationScope, options: InspectionOptions, diagnostics: Diagnostic[]): void {
  const put = (table: Map<InjectionToken, Provider>, list: readonly Binding[] = [], what: string): void => {
    for (const [index, binding] of list.entries()) {
      const fault = checkBinding(binding, `${what} ${index + 1} of the application`);
      if (fault === undefined) table.set(binding.token, new Provider(binding.token, binding.source, application));
      else diagnostics.push(fault);
    }
  };
  put(application.bindings, options.bindings, "binding");
  put(application.bindings, options.overrides, "test override");
  put(application.defaults, options.defaults, "default");
}

/** The providers that are built even if they are injected nowhere, in the order of the start of the traversal. */
function listProvidersToBuild(
  application: ApplicationScope,
  modules: readonly ModuleScope[],
  { extras = () => [] }: InspectionOptions,
  used: Set<Provider>,
): readonly Provider[] {
  const roots = new Set(application.bindings.values());
  const addClasses = (scope: Scope, entries: readonly unknown[]): void => {
    for (const entry of entries.filter(isClass)) {
      const provider = scope.ensureProvider(entry);
      used.add(provider);
      roots.add(provider);
    }
  };
  for (const scope of modules) {
    const { controllers, middleware } = scope.definition;
    for (const [token, provider] of scope.providers) if (!application.bindings.has(token)) roots.add(provider);
    addClasses(scope, [...controllers, ...middleware, ...extras(scope.module), scope.module]);
  }
  addClasses(application, extras(undefined));
  return [...roots];
}

function checkRequired(
  application: ApplicationScope,
  { requiredTokens = [] }: InspectionOptions,
  used: Set<Provider>,
  diagnostics: Diagnostic[],
): void {
  for (const { token, requiredBy } of requiredTokens) {
    const provider = application.findAny(token);
    if (provider !== undefined) used.add(provider);
    else diagnostics.push({ ...explainMissing(application, application, token), where: requiredBy });
  }
}

/** The test overrides that neither a constructor nor the framework resolves. A test with such an override does not test its double. */
function findUnusedOverrides(
  application: ApplicationScope,
  { overrides = [], isCollected = () => false }: InspectionOptions,
  used: ReadonlySet<Provider>,
): readonly Provider[] {
  const tokens = new Set(overrides.filter((override) => override instanceof Binding).map(({ token }) => token));
  const providers = [...application.bindings.values()].filter(({ token }) => tokens.has(token));
  return providers.filter((provider) => !used.has(provider) && !isForFramework(provider, application, isCollected));
}

/** The framework resolves its defaults and the classes that it collects. A class that is bound to a token counts like the token. */
function isForFramework(
  { token }: Provider,
  application: ApplicationScope,
  isCollected: NonNullable<InspectionOptions["isCollected"]>,
): boolean {
  if (application.defaults.has(token)) return true;
  const overridden = application.findHolders(token).map(({ providers }) => providers.get(token)?.source);
  const classes = overridden.flatMap((source) => (source?.kind === "class" ? source.implementation : []));
  return [token, ...classes].some((candidate) => isClass(candidate) && isCollected(candidate));
}

function describe({ module, name, definition, providers, imports }: ModuleScope): ModuleDescription {
  const { controllers, exports, middleware, events } = definition;
  const imported = [...new Set(imports.map((scope) => scope.module))];
  return {
    module,
    name,
    imports: imported,
    exports,
    controllers,
    providers: [...providers.keys()],
    middleware,
    events,
  };
}

function buildAll(plan: BuildPlan, diagnostics: readonly Diagnostic[]): Container {
  if (diagnostics.length > 0) throw new StartupError(diagnostics);
  const builder = new InstanceBuilder(plan.application, plan.order);
  const container = new Container(plan.application, builder);
  const failures = builder.build();
  // After a failure, an override may be unused because a constructor or a factory did not finish.
  const unused = failures.length > 0 ? [] : plan.unusedOverrides.filter((provider) => !builder.lookedUp.has(provider));
  if (failures.length + unused.length === 0) return container;
  // Disposed of in the background, because the error to report is the failed start.
  container.dispose().catch(() => undefined);
  const faults = mergeMissing(failures.map(({ diagnostic }) => diagnostic));
  throw failedBuild([...faults, ...unused.map(unusedOverride)], failures);
}

function failedBuild(
  diagnostics: readonly Diagnostic[],
  failures: readonly { readonly cause?: unknown }[],
): StartupError {
  const causes = failures.flatMap((failure) => ("cause" in failure ? [failure.cause] : []));
  if (causes.length === 0) return new StartupError(diagnostics);
  return new StartupError(diagnostics, { cause: causes.length === 1 ? causes[0] : new AggregateError(causes) });
}
