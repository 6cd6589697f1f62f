/**
 * Passkeys: a sign-in without address and password, or the second step after them. Which of the two a passkey is, is said when it is
 * registered; neither becomes the other.
 *
 * The methods take the JSON of the browser as it is: `credential.toJSON()`.
 *
 * @example
 * const options = await this.passkeys.start(ctx);
 * const { kind } = await this.passkeys.finish(ctx, { response: ctx.input.body.response });
 */
import { type Binding, provide } from "../../di/provide.js";
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { tracing } from "../../tracing/tracing.js";
import { AttemptLimits } from "../attempt-limits.js";
import { AuthSettings } from "../auth-settings.js";
import { refuseCrossSite } from "../cross-site.js";
import type { WithIdentity } from "../guards.js";
import { Identities } from "../identities.js";
import { type Passkey, PasskeyStore, type PasskeyUsage } from "../passkey-store.js";
import { SecondStepChanges } from "../second-step/second-step-changes.js";
import type { SecondStepResult } from "../second-step/second-step-sign-in.js";
import { PENDING } from "../sign-in/second-step.js";
import { SignedInSession } from "../signed-in-session.js";
import { SignIn } from "../sign-in/sign-in.js";
import {
  expectWebauthn,
  PasskeyCeremonies,
  type PasskeyOptionsJson,
  type PasskeyProof,
  readPasskeyId,
  toChallengeHash,
} from "./passkey-ceremonies.js";
import { type PasskeyOptions, PasskeySettings } from "./passkey-settings.js";

const log = tracing.target("framework::auth");

/** `expired`: nothing of this kind was started in this session in the last five minutes, or its challenge is used up. */
export type PasskeyRegistration =
  { readonly kind: "added"; readonly id: string } | { readonly kind: "refused" } | { readonly kind: "expired" };

/** `expired`: no confirmation was started in this session in the last five minutes, or its challenge is used up. */
export type PasskeyConfirmation = { readonly kind: "confirmed" | "refused" | "expired" };

/** `last`: a person without a password would have no way to sign in. */
export type PasskeyRemoval = { readonly kind: "removed" | "missing" | "last" };

/** A passkey in the list of a person. */
export type ListedPasskey = Pick<Passkey, "id" | "name" | "usage" | "createdAt" | "lastUsedAt">;

export interface NewPasskey {
  /** Of the browser. */
  readonly response: unknown;
  readonly usage: PasskeyUsage;
  /** By which the person knows it again; at most 100 characters are kept. */
  readonly name: string;
}

const MAX_NAME_LENGTH = 100;
const MAX_PASSKEYS = 20;
const REFUSED = { kind: "refused" } as const;
const EXPIRED = { kind: "expired" } as const;

export class Passkeys {
  protected readonly settings = inject(AuthSettings);
  protected readonly limits = inject(AttemptLimits);
  protected readonly identities = inject(Identities);
  protected readonly store = inject(PasskeyStore);
  protected readonly changes = inject(SecondStepChanges);
  protected readonly signIn = inject(SignIn);
  protected readonly sessions = inject(SignedInSession);
  protected readonly ceremonies = inject(PasskeyCeremonies);

  /** @throws ForbiddenError (403) for a request of another site, and without a confirmation in the last 15 minutes */
  async startRegistration(
    ctx: Context & WithIdentity,
    { usage }: { readonly usage: PasskeyUsage },
  ): Promise<PasskeyOptionsJson> {
    await this.changes.requireConfirmation(ctx);
    const existing = await this.store.listOfUser(ctx.identity.userId);
    return this.ceremonies.startRegistration(ctx, ctx.identity, usage, existing);
  }

  /**
   * Adds the passkey. The other sessions of the person end.
   *
   * @throws the errors of `startRegistration`; ConflictError (409)
   */
  async finishRegistration(
    ctx: Context & WithIdentity,
    { response, usage, name }: NewPasskey,
  ): Promise<PasskeyRegistration> {
    await this.changes.requireConfirmation(ctx);
    const { userId } = ctx.identity;
    const challenge = await this.ceremonies.take(ctx, `register ${usage}`, userId);
    if (challenge === undefined) return EXPIRED;
    const credential = await this.ceremonies.verifyRegistration(response, challenge, usage);
    if (credential === undefined) return REFUSED;
    const isAdded = await this.changes.run(ctx, "passkey-added", async () => {
      if ((await this.store.listOfUser(userId)).length >= MAX_PASSKEYS) return false;
      const times = { createdAt: ctx.clock.now(), lastUsedAt: undefined };
      return this.store.insert({ ...credential, userId, usage, name: toName(name), ...times });
    });
    return isAdded ? { kind: "added", id: credential.id } : REFUSED;
  }

  async start(ctx: Context): Promise<PasskeyOptionsJson> {
    refuseCrossSite(ctx, this.settings.config.url);
    return this.ceremonies.startAuthentication(ctx, "sign-in", "", []);
  }

  /** @throws the errors of `SignIn.withPassword` */
  async finish(
    ctx: Context,
    { response, remember }: { readonly response: unknown; readonly remember?: boolean | undefined },
  ): Promise<SecondStepResult> {
    refuseCrossSite(ctx, this.settings.config.url);
    const id = readPasskeyId(response);
    await this.limits.count(ctx, `passkey ${id}`);
    const challenge = await this.ceremonies.take(ctx, "sign-in", "");
    if (challenge === undefined) return EXPIRED;
    const passkey = await this.store.find(id);
    const identity = passkey && (await this.identities.find(passkey.userId));
    if (passkey?.usage !== "sign-in" || identity === undefined) return this.refuse();
    if (!(await this.use(ctx, passkey, { response, challenge, ceremony: "sign-in" }))) return this.refuse();
    return this.signIn.complete(ctx, identity, { method: "passkey", remember, isSecondStepDone: true });
  }

  /** The options for the sign-in that waits in this session; `undefined` without one, and without a passkey for it. */
  async startSecondStep(ctx: Context): Promise<PasskeyOptionsJson | undefined> {
    refuseCrossSite(ctx, this.settings.config.url);
    const { userId } = (await this.signIn.findPending(ctx))?.identity ?? {};
    if (userId === undefined) return undefined;
    const allowed = (await this.store.listOfUser(userId)).filter(({ usage }) => usage === "second-step");
    if (allowed.length === 0) return undefined;
    return this.ceremonies.startAuthentication(ctx, "second-step", userId, allowed);
  }

  /** @throws the errors of `SecondStepSignIn.finish` */
  async finishSecondStep(ctx: Context, { response }: { readonly response: unknown }): Promise<SecondStepResult> {
    refuseCrossSite(ctx, this.settings.config.url);
    const { identity, pending } = (await this.signIn.findPending(ctx)) ?? {};
    if (identity === undefined || pending === undefined) return EXPIRED;
    const { userId, stamp } = identity;
    await this.limits.countOfAll(ctx, `second step ${userId} ${stamp}`);
    const challenge = await this.ceremonies.take(ctx, "second-step", userId);
    if (challenge === undefined) return EXPIRED;
    const passkey = await this.store.find(readPasskeyId(response));
    if (passkey?.usage !== "second-step" || passkey.userId !== userId) return this.refuse();
    if (!(await this.use(ctx, passkey, { response, challenge, ceremony: "second-step" }))) return this.refuse();
    Session.of(ctx).forget(PENDING);
    const { remember } = pending;
    return this.signIn.complete(ctx, identity, { method: "second-step", remember, isSecondStepDone: true });
  }

  /**
   * The options of a passkey in the place of the password, for `recentlyConfirmed`; `undefined` for a person without a passkey of the sign-in.
   * One of the second step does not count: it does not ask who holds the device.
   */
  async startConfirmation(ctx: Context & WithIdentity): Promise<PasskeyOptionsJson | undefined> {
    refuseCrossSite(ctx, this.settings.config.url);
    const { userId } = ctx.identity;
    const allowed = (await this.store.listOfUser(userId)).filter(({ usage }) => usage === "sign-in");
    if (allowed.length === 0) return undefined;
    return this.ceremonies.startAuthentication(ctx, "confirmation", userId, allowed);
  }

  /** @throws the errors of `SignIn.withPassword` */
  async finishConfirmation(
    ctx: Context & WithIdentity,
    { response }: { readonly response: unknown },
  ): Promise<PasskeyConfirmation> {
    refuseCrossSite(ctx, this.settings.config.url);
    const { userId } = ctx.identity;
    const id = readPasskeyId(response);
    await this.limits.count(ctx, `passkey ${id}`);
    const challenge = await this.ceremonies.take(ctx, "confirmation", userId);
    if (challenge === undefined) return EXPIRED;
    const passkey = await this.store.find(id);
    if (passkey?.usage !== "sign-in" || passkey.userId !== userId) return this.refuse();
    if (!(await this.use(ctx, passkey, { response, challenge, ceremony: "confirmation" }))) return this.refuse();
    await this.sessions.change(ctx, { confirmedAt: ctx.clock.now() });
    return { kind: "confirmed" };
  }

  async list({ identity }: WithIdentity): Promise<readonly ListedPasskey[]> {
    const all = await this.store.listOfUser(identity.userId);
    return all.map(({ id, name, usage, createdAt, lastUsedAt }) => ({ id, name, usage, createdAt, lastUsedAt }));
  }

  /** False if the person has no such passkey. */
  rename({ identity }: WithIdentity, id: string, name: string): Promise<boolean> {
    return this.store.rename(identity.userId, id, toName(name));
  }

  /**
   * Removes a passkey. The other sessions of the person end.
   *
   * @throws the errors of `startRegistration`; ConflictError (409)
   */
  async remove(ctx: Context & WithIdentity, id: string): Promise<PasskeyRemoval> {
    await this.changes.requireConfirmation(ctx);
    const { userId } = ctx.identity;
    const all = await this.store.listOfUser(userId);
    const ways = all.filter(({ usage }) => usage === "sign-in");
    const isLast = ways.length === 1 && ways[0]?.id === id;
    if (isLast && (await this.identities.find(userId))?.password === undefined) return { kind: "last" };
    const isRemoved = await this.changes.run(ctx, "passkey-removed", () => this.store.delete(userId, id));
    return { kind: isRemoved ? "removed" : "missing" };
  }

  private async use(ctx: Context, passkey: Passkey, proof: PasskeyProof): Promise<boolean> {
    const counter = await this.ceremonies.verifyAuthentication(proof, passkey);
    if (counter === undefined) return false;
    // Two requests at the same time have both found the challenge in the session.
    const challenge = toChallengeHash(proof.challenge);
    return this.store.use(passkey.id, { from: passkey.counter, counter, challenge, lastUsedAt: ctx.clock.now() });
  }

  private refuse() {
    log.info("sign-in refused", { method: "passkey" });
    return REFUSED;
  }
}

/**
 * The flows of passkeys, as a list of bindings after those of `authentication()`. As second step they need `secondStep()` too.
 *
 * @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION`; without the package `E_PEER_MISSING`
 */
export function passkeys(options: PasskeyOptions): readonly Binding[] {
  const settings = new PasskeySettings(options);
  expectWebauthn();
  return [
    provide(PasskeySettings).useValue(settings),
    provide(SecondStepChanges).useClass(SecondStepChanges),
    provide(PasskeyCeremonies).useClass(PasskeyCeremonies),
    provide(Passkeys).useClass(Passkeys),
  ];
}

function toName(name: unknown): string {
  return typeof name === "string" ? Array.from(name.toWellFormed()).slice(0, MAX_NAME_LENGTH).join("").trim() : "";
}
