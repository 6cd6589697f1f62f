/** Every flow of an identity, with right and with wrong input. What each flow gives out becomes a secret that the search looks for. */
import type { TestClient, TestResponse } from "@stagecraft/framework/testing";
import { until } from "../../support/until.js";
import { readSecret } from "../second-step/second-step-application.js";
import { createTotpCode } from "../../../lib/auth/second-step/totp-code.js";
import { toTokenHash } from "../../../lib/auth/tokens/token-text.js";
import { account, mailsOf } from "../account-application.js";
import { SoftwareAuthenticator } from "../passkeys/software-authenticator.js";
import { keys } from "../passkeys/passkey-application.js";
import { security } from "../second-step/second-step-application.js";
import { api, tokens } from "../tokens/token-application.js";
import { type CanaryApplication, PLAIN, vault } from "./canary-application.js";

const EMAIL = "ada@shop.example";
export const PASSWORDS = ["canary4711first", "canary4711 sécond/+", "canary4711third", "canary4711wrong"] as const;
const [FIRST, SECOND, THIRD, WRONG] = PASSWORDS;
const MINUTE_MS = 60_000;
const ROWS = { except: ["the rows"] };

export class CanaryFlows {
  private client: TestClient;
  private links = 0;

  constructor(private readonly canary: CanaryApplication) {
    this.client = canary.app.withCookies();
    for (const password of PASSWORDS) canary.search.addSecret(`the password ${password}`, password);
    canary.search.addSecret("an encrypted text", PLAIN);
  }

  async run(): Promise<void> {
    await this.signUp();
    await this.remember();
    const secret = await this.addApp();
    await this.usePasskey();
    await this.removeApp(secret);
    await this.changeCredentials();
    await this.useLinks();
    await this.useTokens();
    await this.post(vault.lock.url());
    await this.post(account.signOut.url());
  }

  private async signUp(): Promise<void> {
    await this.post(account.signUp.url(), { email: EMAIL, password: FIRST, name: "Ada" });
    const link = await this.openLast();
    this.leave();
    await this.expect(this.post(link, { password: WRONG }), "password-needed");
    await this.expect(this.post(link, { password: FIRST }), "signed-in");
  }

  /** The cookie rotates, and a copy of it ends the sign-in. */
  private async remember(): Promise<void> {
    await this.post(account.signIn.url(), { email: EMAIL, password: WRONG });
    const first = await this.post(account.signIn.url(), { email: EMAIL, password: FIRST, remember: true });
    const [cookie = ""] = first.headers.getSetCookie().flatMap((line) => /framework-remember=[^;]+/.exec(line) ?? []);
    for (let use = 0; use < 2; use++) {
      this.canary.clock.advance(2 * MINUTE_MS);
      await this.note(await this.canary.app.get(account.show.url(), { headers: { cookie } }));
    }
    this.expectLogged("token of remember-me used twice");
  }

  private async addApp(): Promise<string> {
    await this.signIn(FIRST);
    const { secret, uri } = await this.read<{ secret: string; uri: string }>(this.post(security.startTotp.url()));
    this.addSecret("the secret of the app", secret);
    this.addSecret("the bytes of the secret of the app", readSecret(secret));
    this.addSecret("the URI of the app", uri);
    await this.post(security.confirmTotp.url(), { code: this.showCode(secret, 5) });
    await this.expect(this.confirmApp(secret), "added");
    await this.signInWith(() => ({ code: this.showCode(secret) }), { code: this.showCode(secret, 7) });
    const renewed = await this.readCodes(this.post(security.renewCodes.url()));
    const [code = ""] = renewed;
    await this.signInWith(() => ({ recoveryCode: code }), { recoveryCode: `${code.slice(0, -1)}9` });
    this.expectLogged("recovery code used");
    return secret;
  }

  private async confirmApp(secret: string): Promise<TestResponse> {
    const response = await this.post(security.confirmTotp.url(), { code: this.showCode(secret) });
    await this.readCodes(Promise.resolve(response.clone()));
    return response;
  }

  private async usePasskey(): Promise<void> {
    const device = new SoftwareAuthenticator();
    const start = async (url: string, json = {}) => {
      const options = await this.read<{ challenge: string }>(this.post(url, json));
      // The session has it, and with it alone nobody can sign.
      this.addSecret("a challenge", options.challenge, { except: ["the rows", "the printed sessions"] });
      return options;
    };
    const usage = "sign-in";
    const registration = device.create(await start(keys.startRegistration.url(), { usage }));
    await this.expect(this.post(keys.finishRegistration.url(), { usage, response: registration }), "added");
    await this.post(account.signOut.url());
    await start(keys.startSignIn.url());
    await this.post(keys.finishSignIn.url(), { response: registration });
    const proof = device.get(await start(keys.startSignIn.url()));
    this.addSecret("a proof", (proof as { response: { signature: string } }).response.signature);
    await this.expect(this.post(keys.finishSignIn.url(), { response: proof }), "signed-in");
  }

  private async removeApp(secret: string): Promise<void> {
    await this.signInWith(() => ({ code: this.showCode(secret) }));
    const response = await this.client.delete(security.removeTotp.url());
    await this.note(response);
  }

  private async changeCredentials(): Promise<void> {
    await this.signIn(FIRST);
    await this.post(account.confirm.url(), { password: WRONG });
    await this.expect(this.post(account.confirm.url(), { password: FIRST }), "confirmed");
    await this.post(account.changePassword.url(), { current: WRONG, password: SECOND });
    await this.expect(this.post(account.changePassword.url(), { current: FIRST, password: SECOND }), "changed");
    this.wait();
    await this.post(account.forgot.url(), { email: EMAIL });
    await this.expect(this.post(await this.openLast(), { password: THIRD }), "changed");
  }

  private async useLinks(): Promise<void> {
    this.leave();
    await this.post(account.link.url(), { email: EMAIL });
    const link = await this.openLast();
    await this.post(link.replace("signature=", "signature=0"));
    await this.expect(this.post(link), "signed-in");
    await this.post(account.changeEmail.url(), { email: "countess@shop.example" });
    await this.expect(this.post(await this.openLast()), "changed");
  }

  private async useTokens(): Promise<void> {
    const json = { name: "laptop", scopes: ["links:read"] };
    const { text, token } = await this.read<{ text: string; token: { id: string } }>(
      this.post(tokens.create.url(), json),
    );
    this.addSecret("the API token", text);
    this.addSecret("the API token without its prefix", text.slice(4));
    this.addSecret("the hash of the API token", toTokenHash(text), ROWS);
    await this.sendToken(text, "GET", api.read.url(), 200);
    await this.sendToken(text, "POST", api.write.url(), 403);
    await this.note(await this.client.delete(tokens.revoke.url(token.id)));
    await this.sendToken(text, "GET", api.read.url(), 401);
  }

  private async sendToken(text: string, method: string, path: string, status: number): Promise<void> {
    const response = await this.canary.app.request(path, { method, headers: { authorization: `Bearer ${text}` } });
    await this.note(response);
    if (response.status !== status) throw new Error(`the API token has the status ${response.status} at ${path}`);
  }

  /** A new browser, and new attempts. */
  private leave(): void {
    this.client = this.canary.app.withCookies();
    this.wait();
  }

  private wait(): void {
    this.canary.clock.advance(16 * MINUTE_MS);
  }

  private async signIn(password: string): Promise<void> {
    this.leave();
    await this.post(account.signIn.url(), { email: EMAIL, password });
  }

  /** With a second step, after a wrong one. */
  private async signInWith(createProof: () => object, wrong?: object): Promise<void> {
    await this.signIn(FIRST);
    if (wrong !== undefined) await this.post(security.finish.url(), wrong);
    await this.expect(this.post(security.finish.url(), createProof()), "signed-in");
  }

  private showCode(secret: string, periods = 0): string {
    const code = createTotpCode(readSecret(secret), Math.floor(this.canary.clock.now() / 30_000) + periods);
    this.addSecret("a code of the app", code);
    return code;
  }

  private async readCodes(response: Promise<TestResponse>): Promise<readonly string[]> {
    const { recoveryCodes } = await this.read<{ recoveryCodes: string[] }>(response);
    for (const code of recoveryCodes) {
      this.addSecret("a recovery code", code);
      this.addSecret("a recovery code without hyphens", code.replaceAll("-", ""));
    }
    return recoveryCodes;
  }

  /** The path of the link in the last mail, which is opened. */
  private async openLast(): Promise<string> {
    const findLinks = async () =>
      (await mailsOf(this.canary.app, 1)).flatMap(({ link }) => (link === "" ? [] : [link]));
    await until(async () => (await findLinks()).length > this.links);
    this.links++;
    const link = (await findLinks()).at(-1) ?? "";
    const signature = new URL(link, "http://none").searchParams.get("signature") ?? "";
    for (const [name, value] of [
      ["a link", link],
      ["a signature", signature],
    ] as const)
      this.addSecret(name, value, { except: ["the mails"] });
    await this.note(await this.client.get(link));
    return link;
  }

  private async post(path: string, json: object = {}): Promise<TestResponse> {
    const response = await this.client.post(path, { json });
    await this.note(response);
    return response;
  }

  /** Each cookie of an identity is a secret, and so are its parts. */
  private async note(response: Response): Promise<void> {
    await this.canary.note(response);
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([\w-]+)=([^;]*)/.exec(line) ?? [];
      const [, , mac = ""] = value.split(".");
      if (name === "framework-remember" && mac !== "") this.addSecret("the code of remember-me", mac);
      if (value !== "") this.addSecret(`the cookie ${name}`, value);
      if (name === "framework-id")
        for (const part of value.split(".").filter((each) => each.length >= 16))
          this.addSecret("a part of a session cookie", part);
    }
  }

  private addSecret(...secret: Parameters<CanaryApplication["search"]["addSecret"]>): void {
    this.canary.search.addSecret(...secret);
  }

  private async read<T>(response: Promise<TestResponse>): Promise<T> {
    const received = await response;
    if (!received.ok) throw new Error(`${received.status} ${await received.text()}`);
    return received.json<T>();
  }

  private async expect(response: Promise<TestResponse>, kind: string): Promise<void> {
    const body = await this.read<{ kind?: string }>(response);
    if (body.kind !== kind) throw new Error(`the kind is ${body.kind}, and not ${kind}`);
  }

  private expectLogged(message: string): void {
    if (!this.canary.app.logs.lines().some((line) => line.includes(message))) throw new Error(`not logged: ${message}`);
  }
}
