/**
 * Explains why a scope does not see a token. Each explanation has a separate code and a fix of one edit: no module provides the token, a
 * module provides it without exporting it, a module that exports it is not imported, or several modules provide it.
 */
import { findForeignCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { ModuleScope, type ApplicationScope } from "./module-scope.js";
import type { VisibleProviders } from "./provider.js";
import { findProvidingFix, isProvidingFix } from "./provided-by.js";
import { describeToken, type InjectionToken } from "./token.js";

/** A diagnostic without its place. */
type PlacelessDiagnostic = Pick<Diagnostic, "code" | "what" | "fix">;

export function explainMissing(
  application: ApplicationScope,
  scope: VisibleProviders,
  token: InjectionToken,
): PlacelessDiagnostic {
  const holders = application.findHolders(token);
  if (holders.length === 0) return unprovided(application, scope, token);
  return scope instanceof ModuleScope ? invisible(scope, holders, token) : ambiguous(holders, token);
}

function invisible(scope: ModuleScope, holders: readonly ModuleScope[], token: InjectionToken): PlacelessDiagnostic {
  const exporter = holders.find(({ exports }) => exports.has(token));
  const neighbour = holders.find((holder) => scope.imports.includes(holder));
  const holder = exporter ?? neighbour ?? holders[0] ?? scope;
  const name = describeToken(token);
  const toExports = `add ${name} to the exports of ${holder.name}`;
  const toImports = `add ${holder.name} to the imports of ${scope.name}`;
  const [gap, fix] =
    exporter !== undefined
      ? [`provides and exports it, but ${scope.name} does not import ${holder.name}`, toImports]
      : neighbour !== undefined
        ? [`provides it, but does not export it`, toExports]
        : [
            `provides it, but does not export it, and ${scope.name} does not import ${holder.name}`,
            `${toExports} and ${toImports}`,
          ];
  return { code: "E_PROVIDER_INVISIBLE", what: `${name} is not visible in ${scope.name}: ${holder.name} ${gap}`, fix };
}

function ambiguous(holders: readonly ModuleScope[], token: InjectionToken): PlacelessDiagnostic {
  const names = holders.map((holder) => holder.name).join(" and ");
  return {
    code: "E_PROVIDER_AMBIGUOUS",
    what: `${names} each provide ${describeToken(token)}, and the root module sees none of them`,
    fix: "export it from one of them and import that module in the root module, or bind it for the whole application with .provide(…)",
  };
}

function unprovided(
  application: ApplicationScope,
  scope: VisibleProviders,
  token: InjectionToken,
): PlacelessDiagnostic {
  const name = describeToken(token);
  const home = scope instanceof ModuleScope ? scope.name : (application.root?.name ?? "a module");
  const fix =
    findProvidingFix(token, home) ??
    `add ${name}, or a binding provide(${name})…, to the providers of ${home}, or import a module that exports it`;
  const explanation = { code: "E_PROVIDER_MISSING", what: `nothing provides ${name}`, fix };
  return (
    findForeignCopy(token, "") ??
    notInjected(application, token, explanation) ??
    sameName(application, token, explanation) ??
    subclass(application, token, explanation) ??
    explanation
  );
}

function notInjected(
  { modules }: ApplicationScope,
  token: InjectionToken,
  explanation: PlacelessDiagnostic,
): PlacelessDiagnostic | undefined {
  const home = modules.find((scope) => scope.notInjected.has(token));
  if (home === undefined) return undefined;
  const what = `${explanation.what}: it is a controller, a middleware or the module class of ${home.name}, and none of these is injected`;
  return { ...explanation, what, fix: `move the part of ${describeToken(token)} that is needed into a provider` };
}

/** Two classes of one name: the usual cause is a file or a package that is loaded twice. */
function sameName(
  { modules, defaults }: ApplicationScope,
  token: InjectionToken,
  explanation: PlacelessDiagnostic,
): PlacelessDiagnostic | undefined {
  const hasName = (tokens: Iterable<InjectionToken>): boolean =>
    [...tokens].some((other) => describeToken(other) === describeToken(token));
  const home = modules.find(({ providers }) => hasName(providers.keys()))?.name;
  if (home === undefined && !hasName(defaults.keys())) return undefined;
  const what = `${explanation.what}: ${home ?? "the framework"} provides another class or token of the same name`;
  return {
    ...explanation,
    what,
    fix: "import the same class or token in both places; a file or package that is loaded twice makes two of them",
  };
}

/** `providers: [SqlLinks]` binds SqlLinks to itself and not to LinkStore, its base class. */
function subclass(
  { modules }: ApplicationScope,
  token: InjectionToken,
  explanation: PlacelessDiagnostic,
): PlacelessDiagnostic | undefined {
  if (typeof token !== "function") return undefined;
  for (const { providers, name } of modules) {
    const heir = [...providers.keys()].find((other) => typeof other === "function" && other.prototype instanceof token);
    if (heir === undefined) continue;
    const what = `${explanation.what}: ${name} provides its subclass ${describeToken(heir)}, but only under the subclass's own name`;
    return {
      ...explanation,
      what,
      fix: `bind it in ${name}: provide(${describeToken(token)}).useClass(${describeToken(heir)})`,
    };
  }
  return undefined;
}

/** The users of all that one list of bindings provides are one fault, because the fix is the same. */
export function mergeMissing(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const firsts = diagnostics.filter((each, at) => !diagnostics.slice(0, at).some((other) => hasSameFix(other, each)));
  return firsts.map((each) => {
    const count = diagnostics.filter((other) => hasSameFix(each, other)).length - 1;
    return count < 1
      ? each
      : { ...each, where: `${each.where}, and ${count} more ${count === 1 ? "place" : "places"}` };
  });
}

function hasSameFix(one: Diagnostic, { code, fix }: Diagnostic): boolean {
  return code === "E_PROVIDER_MISSING" && one.code === code && one.fix === fix && isProvidingFix(fix);
}
