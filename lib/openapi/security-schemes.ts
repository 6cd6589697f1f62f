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

  /** The requirements: a request needs every scheme of the guards; none for a public operation. */
  require({ guards, bearer, title }: SecuredRoute): readonly JsonObject[] {
    const schemes = guards.flatMap(({ definition: { scheme } }) => scheme ?? []);
    const names = new Set(schemes.length === 0 && bearer ? ["bearer"] : schemes);
    for (const name of names) this.use(name, title);
    return names.size === 0 ? [] : [Object.fromEntries([...names].toSorted().map((name) => [name, []]))];
  }

  list(): Readonly<Record<string, JsonObject>> {
    return sortMembers(this.used);
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
