/** Two processes with one database that refresh the tokens of one account, and one of them is killed in the middle. */
import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { ENGINES, type StartedEngine } from "../../idempotency/db/order-database.js";
import { Child } from "../../support/child.js";
import { needs } from "../../support/machine.js";
import { until } from "../../support/until.js";
import { LiarProvider } from "./liar-provider.js";
import { providers } from "./provider-application.js";

/** That of ProviderTokens. */
const LEASE_MS = 90_000;

interface Result {
  readonly kind: string;
  readonly accessToken?: string;
}

/** A browser at a process. */
class Visitor {
  private readonly cookies = new Map<string, string>();

  constructor(readonly url: string) {}

  async get(path: string): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(this.url + path, { headers: { cookie }, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.cookies.set(name, value);
    }
    return response;
  }

  async getJson<T>(path: string): Promise<T> {
    return (await this.get(path)).json() as Promise<T>;
  }
}

/** A provider that revokes all tokens when a refresh token comes twice. */
class RotatingProvider {
  refreshes = 0;
  isHolding = false;
  readonly held: ServerResponse[] = [];
  private current = "";
  private isRevoked = false;

  constructor(readonly liar: LiarProvider) {}

  /** The tokens of the next sign-in expire at once. */
  prepare(): void {
    this.current = "refresh-0";
    this.liar.lies = { tokens: { expires_in: 30, refresh_token: this.current } };
  }

  rotate(): void {
    this.liar.lies = { raw: { "/token": (response, form) => this.respond(response, form) } };
  }

  private respond(response: ServerResponse, form: URLSearchParams): void {
    this.isRevoked ||= form.get("refresh_token") !== this.current;
    const status = this.isRevoked ? 400 : 200;
    if (!this.isRevoked) this.current = `refresh-${++this.refreshes}`;
    const tokens = { token_type: "Bearer", access_token: `access-${this.refreshes}`, refresh_token: this.current };
    response.writeHead(status, { "content-type": "application/json" });
    const body = this.isRevoked ? { error: "invalid_grant" } : { ...tokens, expires_in: 3600 };
    if (this.isHolding) this.held.push(response);
    else response.end(JSON.stringify(body));
  }
}

for (const engine of ENGINES) {
  describe(`two processes that refresh tokens in ${engine.name}`, function () {
    this.timeout(120_000);
    let server: StartedEngine;
    let liar: LiarProvider;
    let rotating: RotatingProvider;
    let children: Child[];
    let first: Visitor;
    let second: Visitor;

    if (engine.program !== undefined) before(needs(engine.program));
    beforeEach(async () => {
      server = await engine.start();
      liar = await LiarProvider.start();
      rotating = new RotatingProvider(liar);
      rotating.prepare();
      children = [];
      first = await startProcess();
      second = await startProcess();
      const path = await liar.visit(second, providers.start.url("liar"));
      expect(await second.getJson(path)).to.include({ kind: "signed-in", userId: "user-1" });
      rotating.rotate();
    });
    afterEach(async () => {
      for (const child of children) await child[Symbol.asyncDispose]();
      await liar[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });

    async function startProcess(): Promise<Visitor> {
      const environment = { DATABASE: server.url, ISSUER: liar.url };
      const child = await Child.start("../auth/oauth/refresh-process.js", environment);
      children.push(child);
      await child.says(";");
      return new Visitor(/url (\S+);/.exec(child.output)?.[1] ?? "");
    }

    const getToken = (visitor: Visitor) => visitor.getJson<Result>("/refreshes/token");
    const advance = (visitor: Visitor, ms: number) => visitor.get(`/refreshes/advance/${ms}`);
    const isSignedIn = async () => (await second.get("/refreshes/me")).status === 200;

    it("ask the provider once for each rotation, whatever the requests at the same time", async () => {
      for (let rotation = 1; rotation <= 3; rotation++) {
        const results = await Promise.all(Array.from({ length: 40 }, (_, at) => getToken(at % 2 ? first : second)));

        const expected = { kind: "token", accessToken: `access-${rotation}` };
        expect(results).to.deep.equal(Array.from({ length: 40 }, () => expected));
        expect(rotating.refreshes).to.equal(rotation);
        for (const each of [first, second]) await advance(each, 3_600_000);
      }
    });

    it("recover in 90 seconds after the kill of the one that has sent nothing yet", async () => {
      liar.lies = { hangs: ["/token"] };
      const requests = liar.requests.length;
      const lost = getToken(first).catch(() => "lost");
      await until(() => liar.requests.slice(requests).includes("/token"));
      children[0]?.kill("SIGKILL");
      rotating.rotate();

      expect(await lost).to.equal("lost");
      expect(await getToken(second)).to.deep.equal({ kind: "unavailable" });
      await advance(second, LEASE_MS + 1);
      expect(await getToken(second)).to.deep.equal({ kind: "token", accessToken: "access-1" });
      expect([rotating.refreshes, await isSignedIn()]).to.deep.equal([1, true]);
    });

    it("ask for a sign-in at the provider after the kill of the one that had the only new token", async () => {
      rotating.isHolding = true;
      const lost = getToken(first).catch(() => "lost");
      await until(() => rotating.held.length === 1);
      children[0]?.kill("SIGKILL");
      rotating.isHolding = false;

      expect(await lost).to.equal("lost");
      await advance(second, LEASE_MS + 1);
      expect(await getToken(second)).to.deep.equal({ kind: "expired" });
      expect(await isSignedIn(), "here the person stays signed in").to.equal(true);
    });
  });
}
