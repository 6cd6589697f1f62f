/** The options of `authentication()`, checked, and what derives from them. Not for the words and pages of an application. */
import type { AppConfig } from "../app/config.js";
import type { Cache } from "../cache/cache.js";
import { UrlSigner } from "../crypto/url-signer.js";
import type { InjectionToken } from "../di/token.js";
import { PROVIDED_BY } from "../di/provided-by.js";
import { checkOptionNames } from "../errors/option-names.js";
import type { SecretKeyMaterial } from "../errors/secret-keys.js";
import { createSetupError } from "../errors/setup-error.js";
import { findOrigin } from "../http/request/origin.js";
import type { Clock } from "../runtime/clock.js";
import type { AuthUsers } from "./auth-users.js";
import { isTokenPrefix } from "./tokens/token-text.js";

/** The endpoint that spends a link: a POST whose path has one capture, the id. A GET of the same path shows the page with its form. */
export interface LinkEndpoint {
  readonly method: string;
  url(id: string): string;
}

/** The endpoints that mails lead to. A flow without its endpoint is not provided. */
export interface AuthLinkEndpoints {
  readonly signUp?: LinkEndpoint;
  readonly reset?: LinkEndpoint;
  readonly signIn?: LinkEndpoint;
  readonly email?: LinkEndpoint;
}

export interface AuthOptions {
  /** The class of the application that extends `AuthUsers`. A module lists it too. */
  readonly users: InjectionToken<AuthUsers>;
  /** 128 hexadecimal characters, or a list of them: the first signs, all verify. */
  readonly keys: SecretKeyMaterial;
  /** The endpoints that mails lead to: `{ reset: account.reset }`. */
  readonly links?: AuthLinkEndpoints;
  /** The cache that counts attempts for all processes. Without it each process counts alone. */
  readonly attempts?: InjectionToken<Cache>;
  readonly tokens?: ApiTokenOptions;
}

/** The options of API tokens. */
export interface ApiTokenOptions {
  /**
   * The start of each token, by which scanners of sources find it: words of lower-case letters and digits, 2 to 16 characters in all, such as
   * `shop` or `shop_test`. The default is `sct`. Another prefix ends the tokens until then.
   */
  readonly prefix?: string;
}

const OPTIONS = { users: true, keys: true, links: true, attempts: true, tokens: true } as const;
const LINKS = { signUp: true, reset: true, signIn: true, email: true } as const;
const DEFAULT_PREFIX = "sct";

/** @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION`, `E_CRYPTO_KEY` */
export function checkAuthOptions(options: AuthOptions): AuthOptions {
  checkOptionNames(options, OPTIONS, "authentication");
  checkOptionNames(options.links, LINKS, "authentication: links");
  // JavaScript callers may pass any value.
  const users: unknown = options.users;
  if (typeof users !== "function")
    throw createSetupError("E_AUTH_OPTION", "authentication({ users }) takes the class that extends AuthUsers");
  const wrong = Object.entries(options.links ?? {}).find(([, endpoint]) => !isLinkEndpoint(endpoint));
  if (wrong !== undefined)
    throw createSetupError(
      "E_AUTH_OPTION",
      `links.${wrong[0]} of authentication() is the endpoint of POST that spends the link: Post("/reset/{id}")`,
    );
  checkTokenOptions(options.tokens);
  // The keys are checked before the first request. The origin of a test is known when it listens.
  void new UrlSigner(options.keys, "http://localhost");
  return options;
}

function checkTokenOptions(options: ApiTokenOptions = {}): void {
  checkOptionNames(options, { prefix: true }, "authentication: tokens");
  if (isTokenPrefix(options.prefix ?? DEFAULT_PREFIX)) return;
  const message =
    "tokens.prefix of authentication() is 2 to 16 lower-case letters and digits, with _ between words: shop_test";
  throw createSetupError("E_AUTH_OPTION", message);
}

function isLinkEndpoint(endpoint: unknown): boolean {
  const { method, url }: { readonly method?: unknown; readonly url?: unknown } = Object(endpoint);
  return method === "POST" && typeof url === "function";
}

export class AuthSettings {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  readonly links: AuthLinkEndpoints;
  readonly tokenPrefix: string;
  // Not `private`: printing the object would show the keys.
  readonly #keys: SecretKeyMaterial;
  private signers = new Map<string, UrlSigner>();

  constructor(
    { keys, links = {}, tokens = {} }: AuthOptions,
    readonly config: AppConfig,
    readonly clock: Clock,
  ) {
    this.links = links;
    this.tokenPrefix = tokens.prefix ?? DEFAULT_PREFIX;
    this.#keys = keys;
  }

  /** The keys, from which each use derives another one. */
  get keys(): SecretKeyMaterial {
    return this.#keys;
  }

  /** Signs for the origin of the configuration, never for that of a request, which a client chooses. */
  get signer(): UrlSigner {
    const origin = findOrigin(this.config.url) ?? "";
    const signer = this.signers.get(origin) ?? new UrlSigner(this.#keys, origin, { clock: this.clock });
    this.signers = new Map([[origin, signer]]);
    return signer;
  }
}
