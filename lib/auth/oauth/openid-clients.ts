/**
 * The providers over `openid-client`. Each step has its configuration, with one deadline for all its requests; only the documents of
 * discovery are stored. The keys of a provider are fetched for each ID token, so that keys may rotate at any time.
 *
 * What leaves this file holds no text of a provider but codes: the errors of the package hold tokens and claims.
 */
import { setMaxListeners } from "node:events";
import { expectInstalled, type Peer, requirePeer } from "../../errors/optional-package.js";
import { parseUrl } from "../../http/request/origin.js";
import type { Clock } from "../../runtime/clock.js";
import { readEmail } from "../identity.js";
import { DiscoveryDocuments } from "./discovery.js";
import type { OAuthSettings } from "./oauth-settings.js";
import { isLoopback, type OAuthProvider, type RawProfile } from "./provider.js";
import {
  type AuthorizationCallback,
  type AuthorizationRequest,
  ProviderClients,
  ProviderGrant,
  type ProviderProfile,
  ProviderRefusalError,
  type ProviderTokenValues,
  ProviderUnavailableError,
} from "./provider-clients.js";
import { createProviderFetch, type ProviderFetch } from "./provider-fetch.js";

const PEER: Peer = {
  entry: "@stagecraft/framework/oauth",
  name: "openid-client",
  from: "6.1.1",
  before: "7.0.0",
  install: "openid-client@6",
};

type OpenidClient = typeof import("openid-client");
type Configuration = InstanceType<OpenidClient["Configuration"]>;
type ProviderClaims = Readonly<Record<string, unknown>>;

/** @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function expectOpenidClient(): void {
  expectInstalled(PEER);
}

const DISCOVERY = "/.well-known/openid-configuration";
/** The clocks of the provider and of this machine may differ by a minute. */
const CLOCK_TOLERANCE_S = 60;
const SUBJECT = /^[ -~]{1,255}$/;
const MAX_NAME_LENGTH = 200;
/** PostgreSQL refuses NUL. The others break lines, or turn the direction of the text behind a name. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
/** RFC 6749 section 4.1.2.1, and the code of the package for its deadline. */
const TEMPORARY: ReadonlySet<string> = new Set(["OAUTH_TIMEOUT", "temporarily_unavailable", "server_error"]);
/** RFC 6749 section 4.1.2.1, and codes of the package. */
const REASON = /^[A-Za-z_]{1,64}$/;

/** One step: a configuration, and the requests that share its deadline. */
interface ProviderStep {
  readonly config: Configuration;
  readonly fetch: ProviderFetch;
}

export class OpenidClients extends ProviderClients {
  private loaded: OpenidClient | undefined;
  private readonly documents: DiscoveryDocuments;

  constructor(
    private readonly settings: OAuthSettings,
    private readonly clock: Clock,
  ) {
    super();
    this.documents = new DiscoveryDocuments(clock, (provider) => this.loadDocument(provider));
  }

  /** The first step loads the package. */
  private get openid(): OpenidClient {
    return (this.loaded ??= requirePeer(PEER) as OpenidClient); // Of the versions in the range.
  }

  override createAuthorizationUrl(provider: OAuthProvider, request: AuthorizationRequest): Promise<URL> {
    return this.run(provider, ({ config }) =>
      this.openid.buildAuthorizationUrl(config, {
        ...provider.parameters,
        redirect_uri: request.redirectUri,
        scope: provider.scopes.join(" "),
        state: request.state,
        code_challenge: request.codeChallenge,
        code_challenge_method: "S256",
        ...(provider.isOpenId ? { nonce: request.nonce } : {}),
      }),
    );
  }

  override exchange(provider: OAuthProvider, { url, state, nonce, codeVerifier }: AuthorizationCallback) {
    const { max_age: maxAge = "" } = provider.parameters;
    return this.run(provider, async (step) => {
      const tokens = await this.openid.authorizationCodeGrant(step.config, url, {
        pkceCodeVerifier: codeVerifier,
        expectedState: state,
        ...(provider.isOpenId ? { expectedNonce: nonce, idTokenExpected: true } : {}),
        ...(provider.isOpenId && maxAge !== "" ? { maxAge: Number(maxAge) } : {}),
      });
      const claims: ProviderClaims = { ...tokens.claims() };
      const profile = await this.readProfile(provider, step, { accessToken: tokens.access_token, claims });
      return new ProviderGrant(profile, toTokenValues(tokens));
    });
  }

  override refresh(provider: OAuthProvider, refreshToken: string): Promise<ProviderTokenValues> {
    return this.run(provider, async ({ config }) => {
      const tokens = await this.openid.refreshTokenGrant(config, refreshToken);
      // A provider that does not rotate sends none.
      return { ...toTokenValues(tokens), refreshToken: tokens.refresh_token ?? refreshToken };
    });
  }

  override findSignOutUrl(
    provider: OAuthProvider,
    { idToken, returnUrl }: { readonly idToken: string; readonly returnUrl: string | undefined },
  ): Promise<URL | undefined> {
    return this.run(provider, ({ config }) => {
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      const target = returnUrl === undefined ? {} : { post_logout_redirect_uri: returnUrl };
      return this.openid.buildEndSessionUrl(config, { id_token_hint: idToken, ...target });
    });
  }

  override probe(provider: OAuthProvider): Promise<void> {
    return this.run(provider, () => {});
  }

  private async run<T>(provider: OAuthProvider, work: (step: ProviderStep) => T | Promise<T>): Promise<T> {
    try {
      return await work(await this.createStep(provider));
    } catch (error) {
      throw toProviderError(error, provider.name);
    }
  }

  private async createStep(provider: OAuthProvider): Promise<ProviderStep> {
    const fetch = createProviderFetch(this.createDeadline());
    const config = provider.isOpenId
      ? await this.readDocument(provider, await this.documents.get(provider))
      : this.configure(provider);
    config[this.openid.customFetch] = fetch;
    config.timeout = this.settings.timeoutMs / 1000;
    if (isLoopback(provider.issuer)) this.openid.allowInsecureRequests(config);
    this.openid.enableNonRepudiationChecks(config);
    return { config, fetch };
  }

  private configure(provider: OAuthProvider): Configuration {
    const { issuer, endpoints, clientId } = provider;
    const server = { issuer, authorization_endpoint: endpoints?.authorization, token_endpoint: endpoints?.token };
    return new this.openid.Configuration(
      // `exactOptionalPropertyTypes` of this project; the package takes `undefined`.
      JSON.parse(JSON.stringify(server)) as { issuer: string },
      clientId,
      this.toMetadata(),
      this.toClientAuth(provider),
    );
  }

  /** A document serves several requests, so none of them is its deadline. */
  private async loadDocument(provider: OAuthProvider): Promise<string> {
    const url = provider.issuer.replace(/\/?$/, DISCOVERY);
    const headers = { accept: "application/json" };
    const response = await createProviderFetch(this.createDeadline())(url, { headers });
    if (response.status !== 200) throw new ProviderUnavailableError(`discovery: status ${response.status}`);
    const text = await response.text();
    const config = await this.readDocument(provider, text).catch(() => undefined);
    if (config !== undefined && hasSafeEndpoints(provider, config.serverMetadata())) return text;
    throw new ProviderUnavailableError("discovery: another issuer, or no safe endpoints");
  }

  /** The package checks the issuer, and knows the document of Microsoft that has no issuer of one directory. */
  private readDocument(provider: OAuthProvider, text: string): Promise<Configuration> {
    const headers = { "content-type": "application/json" };
    const serve = () => Promise.resolve(new Response(text, { headers }));
    const execute = isLoopback(provider.issuer) ? [this.openid.allowInsecureRequests] : [];
    const options = { [this.openid.customFetch]: serve, execute };
    const auth = this.toClientAuth(provider);
    return this.openid.discovery(new URL(provider.issuer), provider.clientId, this.toMetadata(), auth, options);
  }

  private toMetadata() {
    const skew = Math.round((this.clock.now() - Date.now()) / 1000);
    return { [this.openid.clockSkew]: skew, [this.openid.clockTolerance]: CLOCK_TOLERANCE_S };
  }

  private toClientAuth({ clientAuth, clientSecret }: OAuthProvider) {
    if (clientAuth === "none") return this.openid.None();
    const { ClientSecretBasic, ClientSecretPost } = this.openid;
    return clientAuth === "client_secret_basic" ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
  }

  private async readProfile(
    provider: OAuthProvider,
    { config, fetch }: ProviderStep,
    { accessToken, claims }: { readonly accessToken: string; readonly claims: ProviderClaims },
  ): Promise<ProviderProfile> {
    const { sub, iss } = claims;
    const isComplete = !provider.isOpenId || claims["email"] !== undefined || !provider.scopes.includes("email");
    const hasMore = !isComplete && config.serverMetadata().userinfo_endpoint !== undefined;
    // The package compares the subjects. An address and whether it is verified are of one source.
    const all: ProviderClaims = hasMore
      ? { ...claims, email_verified: undefined, ...(await this.openid.fetchUserInfo(config, accessToken, String(sub))) }
      : claims;
    const fetchJson = (url: string) => readJson(fetch, url, accessToken);
    const raw = await provider.readProfile({ claims: all, fetchJson });
    return toProfile(raw, provider.isOpenId ? { issuer: iss, subject: sub } : { issuer: provider.issuer, ...raw });
  }

  private createDeadline(): AbortSignal {
    const signal = AbortSignal.timeout(this.settings.timeoutMs);
    // Each request of a step adds one, and `fetch` removes it late.
    setMaxListeners(0, signal);
    return signal;
  }
}

/** The provider would get the secret and tokens there, and a page may lead to the last one. */
function hasSafeEndpoints({ issuer }: OAuthProvider, server: ProviderClaims): boolean {
  const isSafe = (url: unknown) =>
    typeof url === "string" && (parseUrl(url)?.protocol === "https:" || (isLoopback(issuer) && isLoopback(url)));
  const needed = ["authorization_endpoint", "token_endpoint", "jwks_uri"];
  const others = ["userinfo_endpoint", "end_session_endpoint"].filter((name) => server[name] !== undefined);
  return [...needed, ...others].every((name) => isSafe(server[name]));
}

async function readJson(fetch: ProviderFetch, url: string, accessToken: string): Promise<unknown> {
  const headers = { accept: "application/json", authorization: `Bearer ${accessToken}`, "user-agent": "stagecraft" };
  const response = await fetch(url, { headers });
  const { status } = response;
  if (status === 403 || status === 404) return undefined;
  if (status !== 200) throw new ProviderRefusalError("profile_status");
  return response.json() as Promise<unknown>;
}

function toProfile(
  { email, isEmailVerified, name }: RawProfile,
  { issuer, subject }: { readonly issuer?: unknown; readonly subject?: unknown },
): ProviderProfile {
  if (typeof issuer !== "string" || typeof subject !== "string" || !SUBJECT.test(subject) || !SUBJECT.test(issuer))
    throw new ProviderRefusalError("profile_subject");
  const address = typeof email === "string" ? readEmail(email) : undefined;
  const isVerified = address !== undefined && isEmailVerified === true;
  const shown = typeof name === "string" ? toShownName(name) : "";
  return { issuer, subject, email: address, isEmailVerified: isVerified, name: shown === "" ? undefined : shown };
}

function toShownName(name: string): string {
  const text = name.toWellFormed().replaceAll(HIDDEN, " ").trim();
  return Array.from(text).slice(0, MAX_NAME_LENGTH).join("");
}

interface TokenResponse {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
  readonly id_token?: string | undefined;
  readonly expires_in?: number | undefined;
}

function toTokenValues({ access_token, refresh_token, id_token, expires_in }: TokenResponse): ProviderTokenValues {
  return { accessToken: access_token, refreshToken: refresh_token, idToken: id_token, lifetimeS: expires_in };
}

/** The error without its causes, which hold what the provider has sent. */
function toProviderError(error: unknown, provider: string): ProviderUnavailableError | ProviderRefusalError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderUnavailableError) return new ProviderUnavailableError(cause.reason, provider);
    if (cause instanceof ProviderRefusalError) return cause;
    const reason = findReason(cause);
    if (reason !== undefined)
      return TEMPORARY.has(reason) ? new ProviderUnavailableError(reason, provider) : new ProviderRefusalError(reason);
  }
  return new ProviderRefusalError("unexpected");
}

/** The error code of the provider, in the body or in a challenge (RFC 6749 section 5.2), or that of the package. */
function findReason(error: Error): string | undefined {
  const challenges: readonly unknown[] = Array.isArray(error.cause) ? error.cause : [];
  const challenged = challenges.map((each) => Reflect.get(Object(Reflect.get(Object(each), "parameters")), "error"));
  const reasons: readonly unknown[] = [Reflect.get(error, "error"), ...challenged, Reflect.get(error, "code")];
  return reasons.filter((each) => typeof each === "string").find((each) => REASON.test(each));
}
