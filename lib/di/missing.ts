/**
 * Why a token is not to be had in a scope, told apart so that the cure is one edit: nobody provides it, somebody does and does not
 * export it, somebody does and is not imported, or two do and the application cannot choose.
 */
import type { Finding } from "../errors/diagnostic.js";
import { ModuleScope, type ApplicationScope } from "./scope.js";
import type { Viewpoint } from "./slot.js";
import { nameOf, type InjectionToken } from "./token.js";

/** A finding without its place. */
export type Reason = Pick<Finding, "code" | "what" | "cure">;

export function explainMissing(application: ApplicationScope, scope: Viewpoint, token: InjectionToken): Reason {
  const holders = application.holders(token);
  if (holders.length === 0) return unprovided(application, scope, token);
  return scope instanceof ModuleScope ? invisible(scope, holders, token) : ambiguous(holders, token);
}

function invisible(scope: ModuleScope, holders: readonly ModuleScope[], token: InjectionToken): Reason {
  const exporter = holders.find(({ exports }) => exports.has(token));
  const neighbour = holders.find((holder) => scope.imports.includes(holder));
  const holder = exporter ?? neighbour ?? holders[0] ?? scope;
  const name = nameOf(token);
  const toExports = `add ${name} to the exports of ${holder.name}`;
  const toImports = `add ${holder.name} to the imports of ${scope.name}`;
  const [gap, cure] =
    exporter !== undefined
      ? [`provides and exports it, but ${scope.name} does not import ${holder.name}`, toImports]
      : neighbour !== undefined
        ? [`provides it, but does not export it`, toExports]
        : [
            `provides it, but does not export it, and ${scope.name} does not import ${holder.name}`,
            `${toExports} and ${toImports}`,
          ];
  return { code: "E_PROVIDER_INVISIBLE", what: `${name} is not visible in ${scope.name}: ${holder.name} ${gap}`, cure };
}

function ambiguous(holders: readonly ModuleScope[], token: InjectionToken): Reason {
  const names = holders.map((holder) => holder.name).join(" and ");
  return {
    code: "E_PROVIDER_AMBIGUOUS",
    what: `${names} each provide ${nameOf(token)}, and the root module sees none of them`,
    cure: "export it from one of them and import that module in the root module, or bind it for the whole application",
  };
}

function unprovided(application: ApplicationScope, scope: Viewpoint, token: InjectionToken): Reason {
  const name = nameOf(token);
  const home = scope instanceof ModuleScope ? scope.name : (application.root?.name ?? "a module");
  const cure = `add ${name}, or a binding provide(${name})…, to the providers of ${home}, or import a module that exports it`;
  const reason = { code: "E_PROVIDER_MISSING", what: `nothing provides ${name}`, cure };
  return (
    member(application, token, reason) ??
    namesake(application, token, reason) ??
    derived(application, token, reason) ??
    reason
  );
}

function member({ modules }: ApplicationScope, token: InjectionToken, reason: Reason): Reason | undefined {
  const home = modules.find(({ members }) => members.has(token));
  if (home === undefined) return undefined;
  const what = `${reason.what}: it is a controller, a middleware or the module itself in ${home.name}, and those are not injected`;
  return { ...reason, what, cure: `move what is needed of ${nameOf(token)} into a provider` };
}

/** Two classes of one name: the commonest cause is a file or a package that is loaded twice. */
function namesake({ modules }: ApplicationScope, token: InjectionToken, reason: Reason): Reason | undefined {
  const home = modules.find(({ own }) => [...own.keys()].some((other) => nameOf(other) === nameOf(token)));
  if (home === undefined) return undefined;
  const what = `${reason.what}: what ${home.name} provides under this name is another class or token`;
  return {
    ...reason,
    what,
    cure: "import the same one in both places; a file or package loaded twice makes two of them",
  };
}

/** `providers: [SqlLinks]` binds SqlLinks to itself and not to the LinkStore that it is. */
function derived({ modules }: ApplicationScope, token: InjectionToken, reason: Reason): Reason | undefined {
  if (typeof token !== "function") return undefined;
  for (const { own, name } of modules) {
    const heir = [...own.keys()].find((other) => typeof other === "function" && other.prototype instanceof token);
    if (heir !== undefined) {
      const what = `${reason.what}: ${name} provides ${nameOf(heir)}, which is one, under its own name only`;
      return { ...reason, what, cure: `bind it in ${name}: provide(${nameOf(token)}).useClass(${nameOf(heir)})` };
    }
  }
  return undefined;
}
