/** An application with passkeys, and a browser whose virtual authenticator has them. */
import { Controller, type ContextOf, Delete, Get, inject, Post, routes } from "@stagecraft/framework";
import { secondStep } from "@stagecraft/framework/auth";
import { signedIn } from "@stagecraft/framework/auth/guards";
import { Passkeys, passkeys } from "@stagecraft/framework/auth/passkeys";
import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import type { Browser, CDPSession, Page } from "playwright-core";
import { z } from "zod";
import { AppDatabase } from "../auth-database.js";
import { account, PASSWORD, startAccounts, toReply } from "../account-application.js";

const usage = z.object({ usage: z.enum(["sign-in", "second-step"]) });
const response = z.object({ response: z.unknown() });

export const keys = routes("keys", "/keys", {
  page: Get("/page"),
  list: Get("/", { guards: [signedIn] }),
  startRegistration: Post("/registration", { guards: [signedIn], body: usage }),
  finishRegistration: Post("/registration/finish", {
    guards: [signedIn],
    body: usage.extend({ response: z.unknown(), name: z.string().default("Phone") }),
  }),
  startSignIn: Post("/sign-in"),
  finishSignIn: Post("/sign-in/finish", { body: response }),
  startSecondStep: Post("/second-step"),
  finishSecondStep: Post("/second-step/finish", { body: response }),
  startConfirmation: Post("/confirmation", { guards: [signedIn] }),
  finishConfirmation: Post("/confirmation/finish", { guards: [signedIn], body: response }),
  rename: Post("/{id}/name", { guards: [signedIn], body: z.object({ name: z.string() }) }),
  remove: Delete("/{id}", { guards: [signedIn] }),
});

@Controller(keys)
export class KeysController {
  private readonly passkeys = inject(Passkeys);

  @keys.page page() {
    return "a page";
  }

  @keys.list list(ctx: ContextOf<typeof keys.list>) {
    return this.passkeys.list(ctx);
  }

  @keys.startRegistration startRegistration(ctx: ContextOf<typeof keys.startRegistration>) {
    return this.passkeys.startRegistration(ctx, ctx.input.body);
  }

  @keys.finishRegistration finishRegistration(ctx: ContextOf<typeof keys.finishRegistration>) {
    return this.passkeys.finishRegistration(ctx, ctx.input.body);
  }

  @keys.startSignIn startSignIn(ctx: ContextOf<typeof keys.startSignIn>) {
    return this.passkeys.start(ctx);
  }

  @keys.finishSignIn async finishSignIn(ctx: ContextOf<typeof keys.finishSignIn>) {
    return toReply(await this.passkeys.finish(ctx, ctx.input.body));
  }

  @keys.startSecondStep async startSecondStep(ctx: ContextOf<typeof keys.startSecondStep>) {
    return (await this.passkeys.startSecondStep(ctx)) ?? { kind: "expired" };
  }

  @keys.finishSecondStep async finishSecondStep(ctx: ContextOf<typeof keys.finishSecondStep>) {
    return toReply(await this.passkeys.finishSecondStep(ctx, ctx.input.body));
  }

  @keys.startConfirmation async startConfirmation(ctx: ContextOf<typeof keys.startConfirmation>) {
    return (await this.passkeys.startConfirmation(ctx)) ?? { kind: "expired" };
  }

  @keys.finishConfirmation async finishConfirmation(ctx: ContextOf<typeof keys.finishConfirmation>) {
    return toReply(await this.passkeys.finishConfirmation(ctx, ctx.input.body));
  }

  @keys.rename async rename(ctx: ContextOf<typeof keys.rename>) {
    return { isRenamed: await this.passkeys.rename(ctx, ctx.params.id, ctx.input.body.name) };
  }

  @keys.remove remove(ctx: ContextOf<typeof keys.remove>) {
    return this.passkeys.remove(ctx, ctx.params.id);
  }
}

/** Browsers refuse passkeys for an IP address, so the pages are those of `localhost`, whose port is known when the application listens. */
export async function startPasskeys(clock = new FakeClock()): Promise<TestApp> {
  const origins: string[] = ["http://localhost"];
  const bindings = [
    ...secondStep({ issuer: "The Shop" }),
    ...passkeys({ name: "The Shop", rpId: "localhost", origins }),
  ];
  const app = await startAccounts({ clock, bindings, controllers: [KeysController] });
  origins[0] = toLocalhost(app);
  return app;
}

/** With the defaults of `passkeys()`. */
export function startDefaultPasskeys(clock = new FakeClock()): Promise<TestApp> {
  const bindings = [...secondStep({ issuer: "The Shop" }), ...passkeys({ name: "The Shop" })];
  return startAccounts({ clock, bindings, controllers: [KeysController] });
}

export function toLocalhost(app: TestApp): string {
  return app.url.replace("127.0.0.1", "localhost");
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A page of the application in a browser of its own, whose device has passkeys. */
export class Visit {
  private constructor(
    readonly page: Page,
    readonly device: CDPSession,
    readonly authenticatorId: string,
  ) {}

  static async start(browser: Browser, app: TestApp): Promise<Visit> {
    const context = await browser.newContext();
    const page = await context.newPage();
    const device = await context.newCDPSession(page);
    await device.send("WebAuthn.enable");
    const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.goto(toLocalhost(app) + keys.page.url());
    return new Visit(page, device, authenticatorId);
  }

  post(path: string, body: unknown = {}, method = "POST"): Promise<Answer> {
    return this.page.evaluate(
      async ([url, text, verb]) => {
        const init = { method: verb, body: text, headers: { "content-type": "application/json" } };
        const reply = await fetch(url, verb === "GET" ? {} : init);
        const type = reply.headers.get("content-type") ?? "";
        return { status: reply.status, body: type.includes("json") ? ((await reply.json()) as unknown) : undefined };
      },
      [path, JSON.stringify(body), method] as const,
    );
  }

  signIn(email: string): Promise<Answer> {
    return this.post(account.signIn.url(), { email, password: PASSWORD });
  }

  /** The response of the device to options of a registration. */
  create(options: unknown): Promise<unknown> {
    return this.page.evaluate(async (json) => {
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
        json as PublicKeyCredentialCreationOptionsJSON,
      );
      const credential = await navigator.credentials.create({ publicKey });
      return credential instanceof PublicKeyCredential ? credential.toJSON() : undefined;
    }, options);
  }

  /** The response of the device to options of a sign-in. */
  get(options: unknown): Promise<unknown> {
    return this.page.evaluate(async (json) => {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json as PublicKeyCredentialRequestOptionsJSON);
      const credential = await navigator.credentials.get({ publicKey });
      return credential instanceof PublicKeyCredential ? credential.toJSON() : undefined;
    }, options);
  }

  async register(kind: "sign-in" | "second-step"): Promise<Answer> {
    const { body } = await this.post(keys.startRegistration.url(), { usage: kind });
    return this.post(keys.finishRegistration.url(), { usage: kind, response: await this.create(body) });
  }

  /** The response of the device to a new challenge of a sign-in. */
  async sign(): Promise<unknown> {
    return this.get((await this.post(keys.startSignIn.url())).body);
  }

  finish(proof: unknown): Promise<Answer> {
    return this.post(keys.finishSignIn.url(), { response: proof });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

/** A person without a password. */
export async function removePassword(app: TestApp, userId: string): Promise<void> {
  // Without the identity its passkeys would be gone too.
  await app.resolve(AppDatabase).run("update framework_identities set password = null where user_id = ?", [userId]);
}
