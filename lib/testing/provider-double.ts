/**
 * Providers without a network, for the tests of an application with `oauth()`: they believe what the test says.
 *
 * @example
 * const providers = new ProviderDouble();
 * await using app = await testApp(ShopModule, provide(ProviderClients).useValue(providers));
 * const ada = app.withCookies();
 * const response = await providers.signIn(ada, account.startProvider.url("google"), { subject: "7", email: "ada@shop.example" });
 */
import { randomUUID } from "node:crypto";
import type { OAuthProvider } from "../auth/oauth/provider.js";
import {
  type AuthorizationCallback,
  type AuthorizationRequest,
  ProviderClients,
  ProviderGrant,
  ProviderRefusalError,
  type ProviderTokenValues,
  ProviderUnavailableError,
} from "../auth/oauth/provider-clients.js";
import { createFailure } from "./failure.js";
import type { TestClient, TestResponse } from "./test-client.js";

/** A person at a provider. */
export interface ProviderPerson {
  readonly subject: string;
  /** In lower case. Verified unless `isEmailVerified` is false. */
  readonly email?: string;
  readonly isEmailVerified?: boolean;
  readonly name?: string;
}

/** `access_denied`, or another error of RFC 6749 section 4.1.2.1, with which the provider leads back. */
export interface ProviderRefusal {
  readonly error: string;
}

/** Of a response in a message. */
const MAX_SHOWN = 500;

export class ProviderDouble extends ProviderClients {
  /** While true, no provider responds. */
  isDown = false;
  /** The refreshes so far. */
  refreshes = 0;
  private readonly people = new Map<string, ProviderPerson>();

  /**
   * Goes to the path that starts the sign-in, or the link, signs in at the provider as the person, and returns the response of the
   * application to the callback.
   *
   * @param client with cookies
   * @throws AssertionError if the path does not lead to a provider
   */
  async signIn(client: TestClient, path: string, person: ProviderPerson | ProviderRefusal): Promise<TestResponse> {
    if (!client.hasCookies)
      throw createFailure("the client keeps no cookies, as a browser does: give app.withCookies()");
    const response = await client.get(path);
    const location = response.headers.get("location");
    // The redirect to the page of the sign-in has a path.
    if (location === null || !URL.canParse(location)) {
      const text = (await response.text()).slice(0, MAX_SHOWN);
      throw createFailure(`${path} leads to no provider: it has the status ${response.status} ${text}`);
    }
    const { searchParams } = new URL(location);
    const code = randomUUID();
    if (!("error" in person)) this.people.set(code, person);
    const { pathname } = new URL(searchParams.get("redirect_uri") ?? "");
    const result: Record<string, string> = "error" in person ? { error: person.error } : { code };
    const query = new URLSearchParams({ ...result, state: searchParams.get("state") ?? "" });
    return client.get(`${pathname}?${query.toString()}`);
  }

  override async createAuthorizationUrl({ name }: OAuthProvider, request: AuthorizationRequest): Promise<URL> {
    this.refuseWhileDown();
    const url = new URL(`https://${name}.test/authorize`);
    url.search = new URLSearchParams({ state: request.state, redirect_uri: request.redirectUri }).toString();
    return Promise.resolve(url);
  }

  override async exchange({ name }: OAuthProvider, { url }: AuthorizationCallback): Promise<ProviderGrant> {
    this.refuseWhileDown();
    const code = url.searchParams.get("code") ?? "";
    const person = this.people.get(code);
    this.people.delete(code);
    if (person === undefined) throw new ProviderRefusalError(url.searchParams.get("error") ?? "invalid_grant");
    const { subject, email, isEmailVerified = true } = person;
    const profile = { issuer: `https://${name}.test`, subject, email, isEmailVerified, name: person.name };
    return Promise.resolve(new ProviderGrant(profile, { ...this.createTokens(), idToken: "id-token" }));
  }

  override async refresh(): Promise<ProviderTokenValues> {
    this.refuseWhileDown();
    this.refreshes++;
    return Promise.resolve(this.createTokens());
  }

  override async findSignOutUrl({ name }: OAuthProvider): Promise<URL | undefined> {
    this.refuseWhileDown();
    return Promise.resolve(new URL(`https://${name}.test/sign-out`));
  }

  override async probe(): Promise<void> {
    this.refuseWhileDown();
    return Promise.resolve();
  }

  private createTokens(): ProviderTokenValues {
    const number = this.refreshes + 1;
    return { accessToken: `access-${number}`, refreshToken: `refresh-${number}`, lifetimeS: 3600 };
  }

  private refuseWhileDown(): void {
    if (this.isDown) throw new ProviderUnavailableError("down");
  }
}
