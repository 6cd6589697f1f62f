/** Sign-in at the provider `oauth2-mock-server`: honest, lying, with new keys, slow, down, and as a process that comes and goes. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { provider } from "@stagecraft/framework/oauth";
import { FakeClock, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { OAuth2Server } from "oauth2-mock-server";
import { Child } from "../../support/child.js";
import { freePort } from "../../support/free-port.js";
import { until } from "../../support/until.js";
import { providers, startProviders } from "./provider-application.js";

const START = providers.start.url("mock");
const SIGNED_IN = { kind: "signed-in", userId: "user-1" };

const toProvider = (issuer: string) => provider({ name: "mock", issuer, clientId: "shop", clientSecret: "secret" });

/** Goes to the page of the provider, and returns the path to which it leads back. */
async function visit(client: TestClient): Promise<string> {
  const target = (await client.get(START)).headers.get("location") ?? "";
  const page = await fetch(target, { redirect: "manual" });
  const { pathname, search } = new URL(page.headers.get("location") ?? "");
  return pathname + search;
}

const finish = async (client: TestClient, path: string) => (await client.get(path)).json<{ kind: string }>();

/** The server behind another one, which holds requests to some paths. */
class SlowServer {
  readonly mock = new OAuth2Server();
  readonly held: (() => void)[] = [];
  holds: (path: string) => boolean = () => false;
  private readonly server = createServer((request, response) => this.serve(request, response));

  async start(): Promise<string> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
    // A server that listens on TCP has an address that is an object.
    const url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    this.mock.issuer.url = url;
    await this.mock.issuer.keys.generate("RS256", { kid: "one" });
    return url;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    const serve = () => this.mock.service.requestHandler(request, response);
    if (this.holds(request.url ?? "")) this.held.push(serve);
    else serve();
  }
}

describe("the sign-in at oauth2-mock-server", function () {
  this.timeout(60_000);
  let slow: SlowServer;
  let lies: Record<string, unknown>;
  let app: TestApp;
  let client: TestClient;

  beforeEach(async () => {
    slow = new SlowServer();
    lies = {};
    const issuer = await slow.start();
    slow.mock.service.on("beforeTokenSigning", ({ payload }: { payload: Record<string, unknown> }) => {
      Object.assign(payload, { email: "ada@shop.example", email_verified: true, ...lies });
    });
    const clock = new FakeClock(Date.now());
    app = await startProviders({ clock, oauth: { providers: [toProvider(issuer)], timeoutMs: 2_000 } });
    client = app.withCookies();
  });
  afterEach(async () => {
    await app.stop();
    await slow.stop();
  });

  it("succeeds with a state, a nonce and PKCE, which the server verifies", async () => {
    expect(await finish(client, await visit(client))).to.include(SIGNED_IN);
  });

  for (const [title, lie] of [
    ["issuer", { iss: "https://evil.example" }],
    ["audience", { aud: "another" }],
    ["nonce", { nonce: "x" }],
    ["time", { exp: 1_000_000_000 }],
  ] as const)
    it(`is refused with another ${title} in the ID token`, async () => {
      lies = lie;

      expect(await finish(client, await visit(client))).to.deep.equal({ kind: "refused" });
    });

  it("succeeds with a key that is new since the last one", async () => {
    await finish(client, await visit(client));
    const before = slow.mock.issuer.keys.toJSON().length;
    await slow.mock.issuer.keys.generate("RS256", { kid: "two" });

    // The server signs with one key after the other.
    const kinds = [];
    for (let count = 0; count < 4; count++) kinds.push((await finish(client, await visit(client))).kind);

    expect(before).to.equal(1);
    expect(kinds).to.deep.equal(Array<string>(4).fill("signed-in"));
  });

  it("takes a state once, and the server takes a code once", async () => {
    const path = await visit(client);
    expect(await finish(client, path)).to.include(SIGNED_IN);
    const code = new URL(path, app.url).searchParams.get("code") ?? "";
    const second = (await visit(client)).replace(/code=[^&]+/, `code=${code}`);

    expect(await finish(client, path)).to.deep.equal({ kind: "expired" });
    expect(await finish(client, second)).to.deep.equal({ kind: "refused" });
  });

  it("waits for a server that is slow, and gives one up after timeoutMs", async () => {
    const [first, second] = [await visit(client), await visit(client)];
    slow.holds = (path) => path.startsWith("/token");
    const patient = finish(client, first);
    await until(() => slow.held.length === 1);
    slow.held[0]?.();

    expect(await patient).to.include(SIGNED_IN);
    expect(await finish(client, second)).to.deep.equal({ kind: "unavailable" });
    expect(slow.held).to.have.lengthOf(2);
  });
});

describe("the process of a provider", function () {
  this.timeout(120_000);

  it("may come after the application, go and come back: the readiness waits for the first time alone", async () => {
    const port = await freePort();
    const clock = new FakeClock(Date.now());
    const issuer = `http://127.0.0.1:${port}`;
    await using app = await startProviders({ clock, oauth: { providers: [toProvider(issuer)], timeoutMs: 5_000 } });
    const client = app.withCookies();
    const statuses = async () => [(await app.get("/up/ready")).status, (await client.get(START)).status];
    const startProvider = async () => {
      const started = await Child.start("../auth/oauth/mock-server-process.js", {}, { port });
      await started.says("started");
      return started;
    };
    expect(await statuses()).to.deep.equal([503, 503]);

    await using first = await startProvider();
    expect(await statuses(), "the next attempt waits").to.deep.equal([503, 503]);
    clock.advance(30_000);
    expect(await statuses()).to.deep.equal([200, 303]);
    const path = await visit(client);
    expect(await finish(client, await visit(client))).to.include(SIGNED_IN);

    first.kill("SIGKILL");
    await first.exitCode();
    expect(await finish(client, path)).to.deep.equal({ kind: "unavailable" });
    // The document is due again. The clock stays near that of the tokens.
    clock.advance(3_600_000);
    expect(await statuses()).to.deep.equal([200, 303]);

    await using _second = await startProvider();
    expect(await finish(client, await visit(client)), "with its new key").to.include(SIGNED_IN);
  });
});
