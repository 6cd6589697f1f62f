/** The options of `oauth()`, checked. */
import { checkOptionNames } from "../../errors/option-names.js";
import { NotFoundError } from "../../errors/framework-error.js";
import { createSetupError } from "../../errors/setup-error.js";
import type { PageEndpoint } from "../return-path.js";
import { OAuthProvider } from "./provider.js";

/** The endpoint to which a provider sends the browser back: a GET whose path has one capture, the name of the provider. */
export interface CallbackEndpoint {
  readonly method: string;
  url(provider: string): string;
}

export interface OAuthOptions {
  readonly providers: readonly OAuthProvider[];
  readonly callback: CallbackEndpoint;
  /** The page to which a provider sends the browser after the sign-out there. */
  readonly signedOut?: PageEndpoint;
  /** Whether a person without an account gets one. True unless set. */
  readonly signUp?: boolean;
  /**
   * Whether an account at a provider is linked to the identity of its address in the sign-in itself, where the provider and the application
   * have both verified the address. False unless set: the person signs in in another way first, and links it then.
   */
  readonly linkByEmail?: boolean;
  /** How long the requests of one step may take together: 100 to 60 000 ms, by default 8 000. */
  readonly timeoutMs?: number;
}

const OPTIONS = {
  providers: true,
  callback: true,
  signedOut: true,
  signUp: true,
  linkByEmail: true,
  timeoutMs: true,
} as const;

export class OAuthSettings {
  readonly providers: ReadonlyMap<string, OAuthProvider>;
  readonly callback: CallbackEndpoint;
  readonly signedOut: PageEndpoint | undefined;
  readonly signUp: boolean;
  readonly linkByEmail: boolean;
  readonly timeoutMs: number;

  /** @throws FrameworkError `E_OPTION`, `E_OAUTH_OPTION` */
  constructor(options: OAuthOptions) {
    checkOptionNames(options, OPTIONS, "oauth");
    const fault = findFault(options);
    if (fault !== undefined) throw createSetupError("E_OAUTH_OPTION", fault);
    this.providers = new Map(options.providers.map((each) => [each.name, each]));
    this.callback = options.callback;
    this.signedOut = options.signedOut;
    this.signUp = options.signUp ?? true;
    this.linkByEmail = options.linkByEmail === true;
    this.timeoutMs = options.timeoutMs ?? 8_000;
  }

  /** @throws NotFoundError (404): a path may have any name */
  requireProvider(name: string): OAuthProvider {
    const provider = this.providers.get(name);
    if (provider !== undefined) return provider;
    throw new NotFoundError("There is no such provider.", { code: "E_OAUTH_UNKNOWN" });
  }
}

function findFault({ providers, callback, timeoutMs = 8_000 }: OAuthOptions): string | undefined {
  // A JavaScript caller may pass any value.
  if (!Array.isArray(providers) || providers.length === 0 || !providers.every((each) => each instanceof OAuthProvider))
    return "oauth({ providers }) takes a list of providers: [google({ clientId, clientSecret })]";
  const names = providers.map(({ name }) => name);
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) return `oauth({ providers }) has two providers with the name ${repeated}`;
  const { method, url }: { readonly method?: unknown; readonly url?: unknown } = Object(callback);
  if (method !== "GET" || typeof url !== "function")
    return 'oauth({ callback }) takes the endpoint of GET to which providers lead back: Get("/callback/{provider}")';
  // With one URL for all, a response of one provider could be taken as that of another.
  if (callback.url("one") === callback.url("two"))
    return 'oauth({ callback }) has the name of the provider in its path: Get("/callback/{provider}")';
  return Number.isInteger(timeoutMs) && timeoutMs >= 100 && timeoutMs <= 60_000
    ? undefined
    : `oauth({ timeoutMs }) is 100 to 60000 milliseconds, and not ${timeoutMs}`;
}
