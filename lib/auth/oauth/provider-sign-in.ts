/**
 * Sign-in at a provider: `start` leads the browser there, `finish` reads what it brings back. The account is found by issuer and subject, and
 * never by its address. A second step is asked for as with a password.
 *
 * No method renders: a controller turns the result into a page or a redirect. To change the flow, extend the class, and bind it after
 * `oauth()`.
 *
 * @example
 * start: Get("/sign-in/{provider}"),
 * finish: Get("/callback/{provider}"),
 *
 * @account.finish
 * async finish(ctx: ContextOf<typeof account.finish>) {
 *   const result = await this.providers.finish(ctx, ctx.params.provider);
 *   return redirect().to(result.kind === "signed-in" ? result.returnTo : `/sign-in?problem=${result.kind}`);
 * }
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import { getQuery } from "../../http/request/request-target.js";
import type { Reply } from "../../http/response/reply.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthSettings } from "../auth-settings.js";
import { AuthUsers } from "../auth-users.js";
import { Identities } from "../identities.js";
import { Identity } from "../identity.js";
import { ProviderAccounts, toAccountId } from "../provider-accounts.js";
import { putReturnPath, takeReturnPath } from "../return-path.js";
import { SignIn } from "../sign-in/sign-in.js";
import { createStamp } from "../signed-in-session.js";
import { AuthorizationStart } from "./authorization-start.js";
import { OAuthSettings } from "./oauth-settings.js";
import type { OAuthProvider } from "./provider.js";
import {
  ProviderClients,
  ProviderGrant,
  type ProviderProfile,
  ProviderRefusalError,
  ProviderUnavailableError,
} from "./provider-clients.js";
import { ProviderLinks } from "./provider-links.js";
import { ProviderSignOut } from "./provider-sign-out.js";
import { ProviderTokens, toReason } from "./provider-tokens.js";
import { type SignInAttempt, SignInAttempts } from "./sign-in-attempts.js";

const log = tracing.target("framework::auth");

export interface ProviderStart {
  /** The path to which the person wants to get, which must be one of this site. Others are left out. */
  readonly returnTo?: string | undefined;
  /** Whether this device stays signed in when its session has expired. */
  readonly remember?: boolean | undefined;
}

/** The data of `AuthUsers.create` for a person who signs up at a provider. */
export interface ProviderSignUpData {
  readonly provider: string;
  /** As the provider tells it: at most 200 characters. */
  readonly name: string | undefined;
}

/**
 * - `linked`: the account belongs to the person of this session from now on.
 * - `link-needed`: the address belongs to an identity. Its person signs in in another way, and links the account.
 * - `email-needed`: no person has this account, and the provider has not verified an address, without which there is no sign-up.
 * - `no-account`: no person has this account, and `oauth({ signUp: false })`.
 * - `taken`: the account to be linked belongs to another person, or the person has 20.
 * - `canceled`: the person has not agreed at the provider.
 * - `refused`: the provider has refused, its response is not to be trusted, or the user is deactivated.
 * - `expired`: this browser has not started it, or more than ten minutes ago, or it is used up.
 * - `unavailable`: the provider does not respond, or says that it cannot do it now.
 */
export type ProviderSignInResult =
  | {
      readonly kind: "signed-in";
      readonly userId: string;
      /** Whether this is the sign-up. */
      readonly isNew: boolean;
      /** A path of this site: that of `start`, or else that of `redirectToSignIn`, or `/`. */
      readonly returnTo: string;
    }
  | { readonly kind: "linked"; readonly returnTo: string }
  | { readonly kind: "second-step" }
  | {
      readonly kind:
        "link-needed" | "email-needed" | "no-account" | "taken" | "canceled" | "refused" | "expired" | "unavailable";
    };

const MAX_QUERY_LENGTH = 8_192;

/** The transaction of a sign-up whose address or account has an identity meanwhile is rolled back. */
class AlreadyTaken extends Error {}

export class ProviderSignIn {
  /** @internal */
  static readonly [PROVIDED_BY] = "...oauth({ providers, callback })";
  protected readonly auth = inject(AuthSettings);
  protected readonly settings = inject(OAuthSettings);
  protected readonly users = inject(AuthUsers);
  protected readonly identities = inject(Identities);
  protected readonly accounts = inject(ProviderAccounts);
  protected readonly clients = inject(ProviderClients);
  protected readonly signIn = inject(SignIn);
  protected readonly links = inject(ProviderLinks);
  protected readonly tokens = inject(ProviderTokens);
  protected readonly signOuts = inject(ProviderSignOut);
  private readonly starts = inject(AuthorizationStart);
  private readonly attempts = inject(SignInAttempts);

  /**
   * The redirect to the provider. Lead to it by a link: a Content-Security-Policy with `form-action 'self'` stops the redirect of a form.
   *
   * @throws NotFoundError (404) for an unknown provider; ForbiddenError (403) for a request of another site; UnavailableError (503) while the
   * configuration of the provider is not known
   */
  start(ctx: Context, provider: string, options: ProviderStart = {}): Promise<Reply<303, undefined>> {
    const { returnTo, remember } = options;
    return this.starts.start(ctx, { provider, returnTo, remember });
  }

  /** @throws NotFoundError (404) for an unknown provider; ConflictError (409) where the credentials change during a link */
  async finish(ctx: Context, name: string): Promise<ProviderSignInResult> {
    const provider = this.settings.requireProvider(name);
    // The URL holds the code.
    ctx.set({ "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" });
    const query = getQuery(ctx.originalUrl ?? "");
    if (query.length > MAX_QUERY_LENGTH) return { kind: "expired" };
    const attempt = await this.attempts.take(ctx, name, new URLSearchParams(query).get("state") ?? "");
    if (attempt === undefined) return { kind: "expired" };
    const grant = await this.exchange(provider, attempt, query);
    if (!(grant instanceof ProviderGrant)) return grant;
    if (attempt.userId === undefined) return this.complete(ctx, provider, attempt, grant);
    const kind = await this.links.finish(ctx, attempt.userId, grant, name);
    return kind === "linked" ? { kind, returnTo: await this.findReturnPath(ctx, attempt) } : { kind };
  }

  /**
   * Signs out here, and returns the URL at which a provider with `signOut` ends its sign-in too; `undefined` without one.
   *
   * @throws the errors of `SignIns.end`
   */
  signOut(ctx: Context): Promise<string | undefined> {
    return this.signOuts.end(ctx);
  }

  private async exchange(
    provider: OAuthProvider,
    { state, nonce, codeVerifier }: SignInAttempt,
    query: string,
  ): Promise<ProviderGrant | ProviderSignInResult> {
    const url = new URL(this.starts.getCallbackUrl(provider.name) + query);
    try {
      return await this.clients.exchange(provider, { url, state, nonce, codeVerifier });
    } catch (error) {
      const kind = toKind(error);
      const fields = { method: "provider", provider: provider.name, reason: toReason(error) };
      if (kind === "canceled") log.info("sign-in refused", fields);
      else log.warn("sign-in refused", fields);
      return { kind };
    }
  }

  private async complete(ctx: Context, provider: OAuthProvider, attempt: SignInAttempt, grant: ProviderGrant) {
    const { profile, tokens } = grant;
    const id = toAccountId(profile.issuer, profile.subject);
    const found = (await this.findIdentity(id)) ?? (await this.createIdentity(ctx, provider, id, profile));
    if ("kind" in found) return found;
    const { identity, isNew } = found;
    const { remember } = attempt;
    const result = await this.signIn.complete(ctx, identity, { method: "provider", remember });
    if (result.kind === "refused") return { kind: "refused" } as const;
    await this.accounts.setUsed(id, { email: profile.email ?? "", lastUsedAt: ctx.clock.now() });
    if (provider.keepTokens) await this.tokens.keep(id, tokens);
    this.signOuts.remember(ctx, identity.userId, provider, tokens);
    if (result.kind === "signed-in")
      return { ...result, isNew, returnTo: await this.findReturnPath(ctx, attempt) } as const;
    // It is taken after the second step.
    if (attempt.returnTo !== undefined) putReturnPath(ctx, attempt.returnTo);
    return result;
  }

  private async findIdentity(id: string) {
    const account = await this.accounts.find(id);
    const identity = account && (await this.identities.find(account.userId));
    // The application has deleted the user.
    if (account !== undefined && identity === undefined) await this.accounts.delete(account.userId, id);
    return identity && { identity, isNew: false };
  }

  /** Links the account to the identity of its address, where that is allowed, or signs the person up. */
  private async createIdentity(ctx: Context, provider: OAuthProvider, id: string, profile: ProviderProfile) {
    const { email, isEmailVerified } = profile;
    // An address that is not verified may be that of anybody, so it tells nothing.
    if (email === undefined || !isEmailVerified) return { kind: "email-needed" } as const;
    const existing = await this.identities.findByEmail(email);
    if (existing !== undefined) {
      if (!this.settings.linkByEmail || !existing.isVerified) return { kind: "link-needed" } as const;
      const isLinked = await this.identities.transaction(async () => {
        if (!(await this.add(ctx, id, profile, existing, provider))) return false;
        await this.links.notify(ctx, existing.userId);
        return true;
      });
      return isLinked ? { identity: existing, isNew: false } : ({ kind: "link-needed" } as const);
    }
    if (!this.settings.signUp) return { kind: "no-account" } as const;
    const created = await this.signUp(ctx, provider, id, { ...profile, email });
    if (created !== undefined) return { identity: created, isNew: true };
    // Another callback of the person was faster, or a sign-up of the address.
    return (await this.findIdentity(id)) ?? ({ kind: "link-needed" } as const);
  }

  private async signUp(
    ctx: Context,
    provider: OAuthProvider,
    id: string,
    profile: ProviderProfile & { email: string },
  ) {
    const now = ctx.clock.now();
    const { email, name } = profile;
    const data: ProviderSignUpData = { provider: provider.name, name };
    try {
      return await this.identities.transaction(async () => {
        const userId = await this.users.create({ email, data });
        const values = { userId, email, password: undefined, stamp: createStamp(), verifiedAt: now, createdAt: now };
        if (!(await this.identities.insert(values))) throw new AlreadyTaken();
        if (!(await this.add(ctx, id, profile, values, provider))) throw new AlreadyTaken();
        return new Identity(values);
      });
    } catch (error) {
      if (error instanceof AlreadyTaken) return undefined;
      throw error;
    }
  }

  private add(
    ctx: Context,
    id: string,
    { issuer, subject, email = "" }: ProviderProfile,
    { userId }: Pick<Identity, "userId">,
    { name }: OAuthProvider,
  ): Promise<boolean> {
    const times = { createdAt: ctx.clock.now(), lastUsedAt: ctx.clock.now() };
    return this.accounts.insert({ id, userId, provider: name, issuer, subject, email, ...times });
  }

  private async findReturnPath(ctx: Context, { returnTo }: SignInAttempt): Promise<string> {
    return returnTo ?? takeReturnPath(ctx, "/");
  }
}

function toKind(error: unknown): "unavailable" | "canceled" | "refused" {
  if (error instanceof ProviderUnavailableError) return "unavailable";
  if (error instanceof ProviderRefusalError) return error.reason === "access_denied" ? "canceled" : "refused";
  throw error;
}
