/**
 * A provider as a value: its issuer, and what the application has registered there. The presets of this folder create it for known
 * providers.
 *
 * @example
 * const company = provider({
 *   name: "company",
 *   issuer: "https://login.company.example",
 *   clientId: "shop",
 *   clientSecret: settings.COMPANY_SECRET,
 * });
 */
import { checkOptionNames } from "../../errors/option-names.js";
import { createSetupError } from "../../errors/setup-error.js";
import { parseUrl } from "../../http/request/origin.js";

/** How the application shows who it is at the token endpoint (RFC 6749 section 2.3). `none` is a client without a secret. */
export type ProviderClientAuth = "client_secret_basic" | "client_secret_post" | "none";

/** The endpoints of a provider of OAuth 2 without OpenID Connect, which has no document to discover them. */
export interface ProviderEndpoints {
  readonly authorization: string;
  readonly token: string;
}

/** What a provider tells about the person who has signed in. */
export interface ProfileSource {
  /** Of the ID token and the user endpoint of OpenID Connect; empty with `endpoints`. Check each: the provider chooses them. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Gets JSON with the access token of the person; `undefined` for a 403 and a 404. Only for URLs of the provider. */
  readonly fetchJson: (url: string) => Promise<unknown>;
}

/** The values as the provider gives them. They are checked where they are used. */
export interface RawProfile {
  /** Needed with `endpoints`, and never the address or the name. With OpenID Connect it is always the `sub` of the ID token. */
  readonly subject?: unknown;
  readonly email?: unknown;
  /** Whether the provider has verified that the person owns the address. Only `true` counts. */
  readonly isEmailVerified?: unknown;
  readonly name?: unknown;
}

export interface ProviderOptions {
  /** Stands in the path of the callback: 1 to 32 lower-case letters, digits and hyphens. */
  readonly name: string;
  /** The URL that the provider calls itself. With OpenID Connect its configuration is discovered there. */
  readonly issuer: string;
  /** For OAuth 2 without OpenID Connect. `readProfile` is needed then. */
  readonly endpoints?: ProviderEndpoints;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** The default is `client_secret_basic` with a secret, and `none` without. */
  readonly clientAuth?: ProviderClientAuth;
  /** The default is `openid`, `email` and `profile`; with `endpoints` none. */
  readonly scopes?: readonly string[];
  /**
   * Further parameters of the request that the browser carries to the provider: `{ prompt: "select_account" }`. With `max_age` an ID token
   * whose `auth_time` is missing, or longer ago, is refused.
   */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly readProfile?: (source: ProfileSource) => RawProfile | Promise<RawProfile>;
  /** Keeps the tokens, encrypted, for `ProviderTokens`. False unless set. */
  readonly keepTokens?: boolean;
  /** Keeps the ID token, encrypted in the session, so that `ProviderSignIn.signOut` ends the sign-in at the provider too. False unless set. */
  readonly signOut?: boolean;
}

const OPTIONS = {
  name: true,
  issuer: true,
  endpoints: true,
  clientId: true,
  clientSecret: true,
  clientAuth: true,
  scopes: true,
  parameters: true,
  readProfile: true,
  keepTokens: true,
  signOut: true,
} as const;
const DEFAULT_SCOPES = ["openid", "email", "profile"];
const CLIENT_AUTHS: readonly unknown[] = ["client_secret_basic", "client_secret_post", "none"];
/** RFC 6749 section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
/** The flow sets these. */
const RESERVED =
  /^(?:client_id|client_secret|redirect_uri|response_type|response_mode|scope|state|nonce|code_challenge(?:_method)?|request(?:_uri)?)$/;
const MAX_ISSUER_LENGTH = 255;

export class OAuthProvider {
  readonly name: string;
  readonly issuer: string;
  /** `undefined` with OpenID Connect. */
  readonly endpoints: ProviderEndpoints | undefined;
  readonly clientId: string;
  readonly clientAuth: ProviderClientAuth;
  readonly scopes: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
  readonly readProfile: (source: ProfileSource) => RawProfile | Promise<RawProfile>;
  readonly keepTokens: boolean;
  readonly signOut: boolean;
  // Not `private`: printing the object would show it.
  readonly #clientSecret: string;

  /** @internal Use `provider`. */
  constructor(options: ProviderOptions) {
    checkProvider(options);
    const { endpoints, clientSecret = "", scopes = endpoints === undefined ? DEFAULT_SCOPES : [] } = options;
    this.name = options.name;
    this.issuer = options.issuer;
    this.endpoints = endpoints;
    this.clientId = options.clientId;
    this.clientAuth = options.clientAuth ?? (clientSecret === "" ? "none" : "client_secret_basic");
    this.scopes = [...scopes];
    this.parameters = { ...options.parameters };
    this.readProfile = options.readProfile ?? readClaims;
    this.keepTokens = options.keepTokens === true;
    this.signOut = options.signOut === true;
    this.#clientSecret = clientSecret;
  }

  get clientSecret(): string {
    return this.#clientSecret;
  }

  get isOpenId(): boolean {
    return this.endpoints === undefined;
  }
}

/** @throws FrameworkError `E_OPTION`, `E_OAUTH_PROVIDER` */
export function provider(options: ProviderOptions): OAuthProvider {
  return new OAuthProvider(options);
}

/** The claims of OpenID Connect Core section 5.1. */
export function readClaims({ claims }: ProfileSource): RawProfile {
  return { email: claims["email"], isEmailVerified: claims["email_verified"], name: claims["name"] };
}

/** Whether a URL has no encryption and needs none, because it does not leave this machine. */
export function isLoopback(url: string): boolean {
  const { protocol, hostname } = parseUrl(url) ?? {};
  return protocol === "http:" && (hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]");
}

function checkProvider(options: ProviderOptions): void {
  checkOptionNames(options, OPTIONS, "provider");
  const fault = findFault(options);
  if (fault !== undefined) throw createSetupError("E_OAUTH_PROVIDER", `provider(): ${fault}`);
}

function findFault(options: ProviderOptions): string | undefined {
  const { name, issuer, endpoints, clientId, scopes = DEFAULT_SCOPES, parameters = {} } = options;
  if (typeof name !== "string" || !/^[a-z\d][a-z\d-]{0,31}$/.test(name))
    return "name is 1 to 32 lower-case letters, digits and hyphens, such as google";
  const urls = [issuer, ...(endpoints === undefined ? [] : [endpoints.authorization, endpoints.token])];
  if (!urls.every(isProviderUrl)) return `the URLs of ${name} start with https://, or with http:// on this machine`;
  if (issuer.length > MAX_ISSUER_LENGTH) return `the issuer of ${name} has more than ${MAX_ISSUER_LENGTH} characters`;
  // The package would take it as the URL of the document, and compare no issuer.
  if (issuer.includes("/.well-known")) return `the issuer of ${name} is the URL in front of /.well-known`;
  if (typeof clientId !== "string" || clientId === "") return `clientId of ${name} is that of the registration`;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === "string" && SCOPE.test(scope)))
    return `scopes of ${name} is a list of words: ["openid", "email"]`;
  const reserved = Object.keys(parameters).find((parameter) => RESERVED.test(parameter));
  if (reserved !== undefined) return `parameters of ${name} cannot set ${reserved}, which the flow sets`;
  if (!/^\d{0,9}$/.test(parameters["max_age"] ?? "")) return `max_age of ${name} is a number of seconds, as a text`;
  return findKindFault(options, scopes) ?? findSecretFault(options);
}

function findKindFault({ name, endpoints, readProfile }: ProviderOptions, scopes: readonly string[]) {
  if (endpoints === undefined)
    return scopes.includes("openid") ? undefined : `scopes of ${name} has openid, or it has endpoints of OAuth 2`;
  return readProfile === undefined ? `${name} has endpoints without readProfile, which finds the person` : undefined;
}

function findSecretFault({ name, clientSecret, clientAuth = "none" }: ProviderOptions): string | undefined {
  if (!CLIENT_AUTHS.includes(clientAuth)) return `clientAuth of ${name} is one of ${CLIENT_AUTHS.join(", ")}`;
  if (clientSecret !== undefined && (typeof clientSecret !== "string" || clientSecret === ""))
    return `clientSecret of ${name} is a text, or is left out by a client without a secret`;
  return clientAuth !== "none" && clientSecret === undefined
    ? `${clientAuth} of ${name} needs clientSecret`
    : undefined;
}

function isProviderUrl(text: unknown): boolean {
  if (typeof text !== "string") return false;
  const url = parseUrl(text);
  const isPlain = url !== undefined && url.search === "" && url.hash === "" && url.username === "";
  return isPlain && (url.protocol === "https:" || isLoopback(text));
}
