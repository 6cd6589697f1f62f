/** The security schemes that the guards of routes name (OpenAPI 3.1 section 4.8.27), and the requirements of an operation. */
import type { UsedGuard } from "../endpoints/guard.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { type JsonObject, sortMembers } from "./document.js";

/** Schemes that need no declaration. */
const KNOWN: Readonly<Record<string, JsonObject>> = {
  basic: { type: "http", scheme: "basic" },
  bearer: { type: "http", scheme: "bearer" },
  // The cookie of `new SessionConfig(key)`.
  session: { type: "apiKey", in: "cookie", name: "__Host-id" },
};

export interface SecuredRoute {
  readonly guards: readonly UsedGuard[];
  /** The CSRF stage refuses with a challenge for a bearer token. */
  readonly bearer: boolean;
  readonly title: string;
}

export class SecuritySchemes {
  readonly diagnostics: Diagnostic[] = [];
  private readonly used = new Map<string, JsonObject>();

  constructor(private readonly declared: Readonly<Record<string, JsonObject>> = {}) {}

  /**
   * The requirements, of which a request meets one: every scheme of the guards; none for a public operation. A guard without refusals lets
   * visitors in, so a requirement without its scheme stands beside that with it. The texts that an endpoint gives a guard, such as the scopes
   * of a token, stand with its scheme (section 4.8.30).
   */
  require({ guards, bearer, title }: SecuredRoute): readonly JsonObject[] {
    const guarded = listSchemes(guards.filter(({ definition: { refusals } }) => refusals.length > 0));
    const needed = guarded.size === 0 && bearer ? new Map([["bearer", new Set<string>()]]) : guarded;
    const optional = [...listSchemes(guards)].filter(([name]) => !needed.has(name));
    for (const [name] of [...needed, ...optional]) this.use(name, title);
    if (needed.size + optional.length === 0) return [];
    return [...optional.map((each) => [...needed, each]), [...needed]].map(toRequirement);
  }

  /** None for an API without guards: a viewer would show a button without a form. */
  list(): { readonly securitySchemes?: Readonly<Record<string, JsonObject>> } {
    return this.used.size === 0 ? {} : { securitySchemes: sortMembers(this.used) };
  }

  private use(name: string, title: string): void {
    if (this.used.has(name)) return;
    const scheme = [this.declared, KNOWN].find((schemes) => Object.hasOwn(schemes, name))?.[name];
    this.used.set(name, scheme ?? {});
    if (scheme !== undefined) return;
    this.diagnostics.push({
      code: "E_OPENAPI_SCHEME",
      what: `a guard of ${title} has the security scheme "${name}", which the API document does not know`,
      where: title,
      fix: `give it: securitySchemes: { ${JSON.stringify(name)}: { type: "http", scheme: "bearer" } }`,
    });
  }
}

type Scheme = readonly [name: string, scopes: ReadonlySet<string>];

function listSchemes(guards: readonly UsedGuard[]): ReadonlyMap<string, ReadonlySet<string>> {
  const schemes = new Map<string, Set<string>>();
  for (const { definition, args } of guards) {
    if (definition.scheme === undefined) continue;
    const scopes = schemes.get(definition.scheme) ?? new Set();
    for (const each of args) if (typeof each === "string") scopes.add(each);
    schemes.set(definition.scheme, scopes);
  }
  return schemes;
}

function toRequirement(schemes: readonly Scheme[]): JsonObject {
  return sortMembers(schemes.map(([name, scopes]) => [name, [...scopes].toSorted()]));
}
