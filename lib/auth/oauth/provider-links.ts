/**
 * The accounts at providers that a person has linked: the list of their page, a further one, and its removal. Only the person who has signed
 * in links an account, and only in the session that has started it.
 *
 * @example
 * list: Get("/accounts", { guards: [signedIn] }),
 * link: Get("/accounts/link/{provider}", { guards: [signedIn, recentlyConfirmed] }),
 * unlink: Delete("/accounts/{id}", { guards: [signedIn, recentlyConfirmed] }),
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import type { Reply } from "../../http/response/reply.js";
import { tracing } from "../../tracing/tracing.js";
import { ConflictError } from "../../errors/framework-error.js";
import { CredentialNotices, findLanguageTag } from "../credential-notices.js";
import type { WithIdentity } from "../guards.js";
import { Identities } from "../identities.js";
import { PasskeyStore } from "../passkey-store.js";
import { type ProviderAccount, ProviderAccounts, toAccountId } from "../provider-accounts.js";
import { SecondStepChanges } from "../second-step/second-step-changes.js";
import { createStamp, SignedInSession } from "../signed-in-session.js";
import { AuthorizationStart } from "./authorization-start.js";
import { OAuthSettings } from "./oauth-settings.js";
import type { ProviderGrant } from "./provider-clients.js";
import { ProviderTokens } from "./provider-tokens.js";

const log = tracing.target("framework::auth");

/** `last`: a person without it would have no way to sign in. */
export type UnlinkResult = { readonly kind: "unlinked" | "missing" | "last" };

/** An account in the list of a person. */
export type ListedAccount = Pick<ProviderAccount, "id" | "provider" | "email" | "createdAt" | "lastUsedAt">;

const MAX_ACCOUNTS = 20;

export class ProviderLinks {
  /** @internal */
  static readonly [PROVIDED_BY] = "...oauth({ providers, callback })";
  protected readonly settings = inject(OAuthSettings);
  protected readonly accounts = inject(ProviderAccounts);
  protected readonly identities = inject(Identities);
  protected readonly notices = inject(CredentialNotices);
  protected readonly passkeys = inject(PasskeyStore);
  protected readonly changes = inject(SecondStepChanges);
  protected readonly sessions = inject(SignedInSession);
  protected readonly starts = inject(AuthorizationStart);
  protected readonly tokens = inject(ProviderTokens);

  async list({ identity }: WithIdentity): Promise<readonly ListedAccount[]> {
    const all = await this.accounts.listOfUser(identity.userId);
    return all.map(({ id, provider, email, createdAt, lastUsedAt }) => ({
      id,
      provider,
      email,
      createdAt,
      lastUsedAt,
    }));
  }

  /**
   * The redirect to the provider. `ProviderSignIn.finish` links the account.
   *
   * @throws ForbiddenError (403) for a request of another site, and without a confirmation in the last 15 minutes; the errors of
   * `ProviderSignIn.start`
   */
  async start(
    ctx: Context & WithIdentity,
    provider: string,
    { returnTo }: { readonly returnTo?: string | undefined } = {},
  ): Promise<Reply<303, undefined>> {
    await this.changes.requireConfirmation(ctx);
    return this.starts.start(ctx, { provider, returnTo, userId: ctx.identity.userId });
  }

  /** Removes an account. The other sessions of the person end. @throws the errors of `start`; ConflictError (409) */
  async unlink(ctx: Context & WithIdentity, id: string): Promise<UnlinkResult> {
    await this.changes.requireConfirmation(ctx);
    const { userId } = ctx.identity;
    let kind: "missing" | "last" = "missing";
    const isUnlinked = await this.changes.run(ctx, "provider-unlinked", async () => {
      const all = await this.accounts.listOfUser(userId);
      if (!all.some((each) => each.id === id)) return false;
      kind = "last";
      // An account at a provider that the application no longer has is no way to sign in.
      const hasOther = all.some((each) => each.id !== id && this.settings.providers.has(each.provider));
      return (hasOther || (await this.hasOtherWay(userId))) && this.accounts.delete(userId, id);
    });
    return { kind: isUnlinked ? "unlinked" : kind };
  }

  /**
   * Links the account of a callback to the person who has started it, in the same session. The other sessions of the person end.
   *
   * @throws ConflictError (409) @internal
   */
  async finish(ctx: Context, userId: string, { profile, tokens }: ProviderGrant, provider: string) {
    const current = await this.sessions.find(ctx);
    if (current?.userId !== userId) return "expired";
    const id = toAccountId(profile.issuer, profile.subject);
    const existing = await this.accounts.find(id);
    if (existing !== undefined && existing.userId !== userId) return "taken";
    if (existing === undefined && !(await this.add(ctx, id, { ...profile, userId, provider, from: current.stamp })))
      return "taken";
    if (this.settings.requireProvider(provider).keepTokens) await this.tokens.keep(id, tokens);
    return "linked";
  }

  private async add(
    ctx: Context,
    id: string,
    {
      from,
      ...values
    }: Pick<ProviderAccount, "userId" | "provider" | "issuer" | "subject"> & {
      readonly email: string | undefined;
      readonly from: string;
    },
  ): Promise<boolean> {
    const { userId, provider, issuer, subject, email = "" } = values;
    const stamp = createStamp();
    const times = { createdAt: ctx.clock.now(), lastUsedAt: ctx.clock.now() };
    const isAdded = await this.identities.transaction(async () => {
      if ((await this.accounts.listOfUser(userId)).length >= MAX_ACCOUNTS) return false;
      if (!(await this.accounts.insert({ id, userId, provider, issuer, subject, email, ...times }))) return false;
      if (!(await this.identities.setStamp(userId, { from, stamp })))
        throw new ConflictError("Your account has changed in the meantime. Sign in again.", { code: "E_AUTH_CHANGED" });
      await this.notify(ctx, userId);
      return true;
    });
    if (!isAdded) return false;
    await this.sessions.renew(ctx, { userId, stamp });
    log.info("provider linked", { user_id: userId, provider });
    return true;
  }

  /** @internal */
  async notify(ctx: Context, userId: string): Promise<void> {
    const identity = await this.identities.find(userId);
    if (identity !== undefined) await this.notices.send(identity.email, "provider-linked", findLanguageTag(ctx));
  }

  private async hasOtherWay(userId: string): Promise<boolean> {
    if ((await this.identities.find(userId))?.password !== undefined) return true;
    return (await this.passkeys.listOfUser(userId)).some(({ usage }) => usage === "sign-in");
  }
}
