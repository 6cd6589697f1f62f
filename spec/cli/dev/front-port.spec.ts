/** The port of the browser: which requests wait, how long, and what they get where no process of the application is ready. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { AllowedHosts } from "../../../lib/cli/dev/allowed-hosts.js";
import { DevelopmentState } from "../../../lib/cli/dev/development-state.js";
import { createFailure } from "../../../lib/cli/dev/failure.js";
import { FrontPort } from "../../../lib/cli/dev/front-port.js";
import { Gate } from "../../support/gate.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { until } from "../../support/until.js";

const SHORT_MS = 20;

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("the port of the browser in development", () => {
  let state: DevelopmentState;
  let front: FrontPort;
  let url: string;
  let server: Server;
  let asked: string[];

  /** @param holdMs how long a request waits; 5 seconds unless given */
  async function open(holdMs?: number, vite?: string): Promise<void> {
    front = new FrontPort(state, { vite, hosts: new AllowedHosts(["shop.test", ".preview.example"]), holdMs });
    url = `http://127.0.0.1:${await front.listen(0, "127.0.0.1")}`;
  }

  beforeEach(() => {
    state = new DevelopmentState();
    asked = [];
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.setHeader("X-Host", request.headers.host ?? "");
      request.on("data", () => undefined).on("end", () => response.writeHead(201, "Made").end("made"));
    });
    server.on("upgrade", (_request, socket) => void socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\nupgraded"));
  });
  afterEach(() => {
    front.close();
    server.close();
    server.closeAllConnections();
  });

  it("has requests of all methods wait for a process, with their bodies", async () => {
    await open();
    const waiting = ["GET", "POST"].map((method) =>
      fetch(`${url}/a?b`, { method, ...(method === "POST" && { body: "text" }) }),
    );
    await until(() => front.waiting === 2);

    state.change({ port: await listen(server), failure: undefined });

    for (const response of await Promise.all(waiting)) {
      expect([response.status, response.statusText, await response.text()]).to.deep.equal([201, "Made", "made"]);
      expect(response.headers.get("x-host")).to.equal(new URL(url).host);
    }
    expect(asked.toSorted()).to.deep.equal(["GET /a?b", "POST /a?b"]);
  });

  it("refuses a request that has waited too long, with the time of the next try", async () => {
    await open(SHORT_MS);

    const response = await fetch(url);

    expect([response.status, response.headers.get("retry-after")]).to.deep.equal([503, "1"]);
  });

  it("sends a request without an effect again where the process ends before its response, and no other", async () => {
    await open();
    const cut = new Gate();
    const dying = createServer((request) => {
      request.socket.destroy();
      cut.open();
    });
    state.change({ port: await listen(dying), failure: undefined });
    const refused = await fetch(url, { method: "POST" });
    const repeated = fetch(url);
    await cut.passed;
    dying.close();
    state.change({ port: await listen(server), failure: undefined });

    expect(refused.status).to.equal(503);
    expect((await repeated).status).to.equal(201);
    expect(asked).to.deep.equal(["GET /"]);
  });

  it("responds at once with the failure where no process serves", async () => {
    await open();
    state.change({ port: undefined, failure: createFailure("It failed", "because", {}) });

    const text = await fetch(url);
    const page = await fetch(url, { headers: { Accept: "text/html" } });

    expect([text.status, await text.text()]).to.deep.equal([500, "It failed\n\nbecause\n"]);
    expect([page.status, page.headers.get("cache-control")]).to.deep.equal([500, "no-store"]);
  });

  it("tunnels an upgrade to the process, when it is ready", async () => {
    await open();
    const socket = connect(Number(new URL(url).port), "127.0.0.1").setEncoding("utf8");
    socket.write("GET /chat HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n");
    await until(() => front.waiting === 1);
    state.change({ port: await listen(server), failure: undefined });

    const [text] = await once(socket, "data");

    expect(text).to.contain("101 Switching Protocols");
    socket.destroy();
  });

  it("ends a request of a client that leaves", async () => {
    await open();
    const client = new AbortController();
    const left = rejectionOf(fetch(url, { signal: client.signal }));
    await until(() => front.waiting === 1);

    client.abort();

    await left;
    await until(() => front.waiting === 0);
  });

  /** The first bytes that come back for a request with these lines. */
  async function send(lines: readonly string[]): Promise<string> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").setEncoding("utf8");
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    const [text] = await once(socket, "data");
    socket.destroy();
    return String(text);
  }
  const getFrom = (host: string): Promise<string> => send(["GET / HTTP/1.1", `Host: ${host}`, "Connection: close"]);

  it("responds for this machine and for allowed names, with any port", async () => {
    await open();
    state.change({ port: await listen(server), failure: undefined });

    for (const host of [
      "localhost",
      "LOCALHOST:3000",
      "shop.localhost",
      "127.0.0.1:1",
      "192.168.1.7:3000",
      "[::1]:3000",
      "[fe80::1]",
      "shop.test:3000",
      "a.preview.example",
    ])
      expect(await getFrom(host), host).to.match(/^HTTP\/1\.1 201 /);
  });

  it("refuses a name that another site may point at this machine, with the fix, and asks no process", async () => {
    await open();
    state.change({ port: await listen(server), failure: undefined });

    for (const host of [
      "evil.example",
      "localhost.evil.example:3000",
      "evillocalhost",
      "preview.example",
      "localhost@evil.example",
      "127.0.0.1.evil.example",
      "evil.example/localhost",
      "",
    ])
      expect(await getFrom(host), host).to.match(/^HTTP\/1\.1 403 /);

    expect(await getFrom("evil.example:3000")).to.contain('"allowedHosts": ["evil.example"]');
    expect(await send(["GET / HTTP/1.0"])).to.match(/^HTTP\/1\.1 403 /);
    expect(asked).to.deep.equal([]);
  });

  const upgrade = (host: string, protocol: string, origin?: string): Promise<string> =>
    send([
      "GET / HTTP/1.1",
      `Host: ${host}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      `Sec-WebSocket-Protocol: ${protocol}`,
      ...(origin === undefined ? [] : [`Origin: ${origin}`]),
    ]);

  it("refuses an upgrade for a foreign name, and one to Vite of a foreign page", async () => {
    const vite = createServer().on("upgrade", (_request, socket) => void socket.end("HTTP/1.1 101 By Vite\r\n\r\n"));
    const folder = mkdtempSync(join(tmpdir(), "front-port-"));
    const path = join(folder, "vite.sock");
    await once(vite.listen(path), "listening");
    await open(undefined, path);
    state.change({ port: await listen(server), failure: undefined });
    for (const origin of ["http://localhost:3000", "https://shop.test", undefined])
      expect(await upgrade("localhost", "vite-hmr", origin)).to.contain("101 By Vite");
    for (const origin of ["http://evil.example", "null", "http://localhost.evil.example:3000"])
      expect(await upgrade("localhost", "vite-hmr", origin), origin).to.contain("403 Forbidden");
    expect(await upgrade("evil.example", "vite-ping")).to.contain("403 Forbidden");
    expect(await upgrade("evil.example", "chat")).to.contain("403 Forbidden");
    expect(await upgrade("localhost", "chat", "https://phone.example")).to.contain("101 Switching Protocols");
    vite.close();
    rmSync(folder, { recursive: true });
  });

  it("tells a foreign page no changes", async () => {
    await open();

    const foreign = await fetch(`${url}/@stagecraft/changes?seen=1`, { headers: { Origin: "http://evil.example" } });

    expect(foreign.status).to.equal(403);
  });

  it("hides the secrets of the environment in a failure", () => {
    const environment = {
      APP_KEY: "5a".repeat(32),
      DATABASE_URL: "postgres://ada:pa55word@db/shop",
      SMTP_PASSWORD: "swordfish",
      HOME: "/home/ada",
      STRIPE: "sk_live_51H8aBcDeFgHiJkLmN",
    };
    const text = `${Object.values(environment).join(" ")} mysql://b:0ther-secret@host \u001b[31mred\u001b[0m`;

    const failure = createFailure("It failed", text, environment);

    expect(failure.text).to.equal(
      "[redacted] postgres://ada:[redacted]@db/shop [redacted] /home/ada [redacted] mysql://b:[redacted]@host red",
    );
  });
});
