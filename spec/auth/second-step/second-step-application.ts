/** The application with accounts and a second step, and what an authenticator app does. */
import { type Binding, Controller, type ContextOf, Delete, Get, inject, Post, routes } from "@stagecraft/framework";
import { Recovery, secondStep, SecondStepSignIn, Totp } from "@stagecraft/framework/auth";
import { signedIn } from "@stagecraft/framework/auth/guards";
import type { FakeClock, TestApp, TestClient } from "@stagecraft/framework/testing";
import { z } from "zod";
import { createTotpCode } from "../../../lib/auth/second-step/totp-code.js";
import { addPerson, signIn, startAccounts, toReply } from "../account-application.js";
import { AppDatabase } from "../auth-database.js";

const code = z.object({ code: z.string() });

export const security = routes("security", "/security", {
  show: Get("/", { guards: [signedIn] }),
  startTotp: Post("/totp", { guards: [signedIn] }),
  confirmTotp: Post("/totp/confirm", { guards: [signedIn], body: code }),
  removeTotp: Delete("/totp", { guards: [signedIn] }),
  renewCodes: Post("/recovery-codes", { guards: [signedIn] }),
  finish: Post("/second-step", {
    body: z.object({ code: z.string().optional(), recoveryCode: z.string().optional() }),
  }),
});

@Controller(security)
export class SecurityController {
  private readonly totp = inject(Totp);
  private readonly recovery = inject(Recovery);
  private readonly secondStep = inject(SecondStepSignIn);

  @security.show async show({ identity: { userId } }: ContextOf<typeof security.show>) {
    return { totp: await this.totp.isAdded(userId), recoveryCodes: await this.recovery.count(userId) };
  }

  @security.startTotp startTotp(ctx: ContextOf<typeof security.startTotp>) {
    return this.totp.start(ctx);
  }

  @security.confirmTotp confirmTotp(ctx: ContextOf<typeof security.confirmTotp>) {
    return this.totp.confirm(ctx, ctx.input.body);
  }

  @security.removeTotp async removeTotp(ctx: ContextOf<typeof security.removeTotp>) {
    return { isRemoved: await this.totp.remove(ctx) };
  }

  @security.renewCodes async renewCodes(ctx: ContextOf<typeof security.renewCodes>) {
    return { recoveryCodes: await this.recovery.renew(ctx) };
  }

  @security.finish async finish(ctx: ContextOf<typeof security.finish>) {
    return toReply(await this.secondStep.finish(ctx, ctx.input.body));
  }
}

export interface SecondStepOptions {
  readonly clock: FakeClock;
  readonly db?: AppDatabase;
  readonly bindings?: readonly Binding[];
}

export function startSecondSteps({ bindings = [], ...options }: SecondStepOptions): Promise<TestApp> {
  const all = [...secondStep({ issuer: "The Shop" }), ...bindings];
  return startAccounts({ ...options, bindings: all, controllers: [SecurityController] });
}

/** What the app on a phone knows. */
export interface Phone {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

export function readSecret(base32: string): Buffer {
  const bits = Array.from(base32, (digit) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(digit).toString(2).padStart(5, "0"),
  );
  return Buffer.from((bits.join("").match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code that the app shows, in this period or in another one. */
export function showCode(secret: string, clock: Pick<FakeClock, "now">, periods = 0): string {
  return createTotpCode(readSecret(secret), Math.floor(clock.now() / 30_000) + periods);
}

/** Adds a person with an app. */
export async function addPersonWithPhone(app: TestApp, userId: string, clock: FakeClock): Promise<Phone> {
  const email = await addPerson(app, userId);
  const client = app.withCookies();
  await signIn(client, email);
  const { secret } = await post<{ secret: string }>(client, security.startTotp.url());
  const added = await post<Phone>(client, security.confirmTotp.url(), { code: showCode(secret, clock) });
  return { secret, recoveryCodes: added.recoveryCodes };
}

/** A client of a person who has given the password. */
export async function givePassword(app: TestApp, userId: string): Promise<TestClient> {
  const client = app.withCookies();
  await signIn(client, `${userId}@shop.example`);
  return client;
}

export const finish = (client: TestClient, proof: { code?: string; recoveryCode?: string }, headers = {}) =>
  client.post(security.finish.url(), { json: proof, headers });

export async function post<T>(client: TestClient, url: string, json: object = {}): Promise<T> {
  const response = await client.post(url, { json });
  if (response.status !== 200) throw new Error(`${url} has the status ${response.status}`);
  return (await response.json()) as T;
}
