/** An application whose own process speaks TLS: on servers that are given to `serve()`, and as a request listener. */
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import tls from "node:tls";
import { Application, Clock, provide, redirect, Route, Routes } from "@stagecraft/framework";
import { FakeClock } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { listening } from "../support/listening.js";
import { selfSigned } from "../support/tls-front.js";
import { until } from "../support/until.js";

const { key, cert } = selfSigned();

const routes = new Routes([
  Route.get("/", (ctx) => {
    ctx.cookies.set("a", "b");
    const { protocol, secure, href, request } = ctx;
    return { protocol, secure, href, ofRequest: [request.protocol, request.href] };
  }),
  Route.get("/back", () => redirect().back("/fallback")),
]);

const builder = () => Application.create().routes(routes).lifecycle({ drainDelayMs: 0, drainDeadlineMs: 30_000 });

interface Answer {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** Accepts the certificate, which the spec has signed itself. */
async function ask(port: number, path = "/", headers: http.OutgoingHttpHeaders = {}): Promise<Answer> {
  const request = https.get({ host: "127.0.0.1", port, path, headers, rejectUnauthorized: false, agent: false });
  // The event's argument, by Node's documentation.
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  return { headers: response.headers, body: await text(response) };
}

async function secured(port: number): Promise<tls.TLSSocket> {
  const socket = tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  return socket;
}

describe("an application over TLS", () => {
  it("reports https as a request listener of an https.Server", async () => {
    using own = await listening(https.createServer({ key, cert }, builder().build().callback()));

    const { headers, body } = await ask(own.port);

    const href = `https://127.0.0.1:${own.port}/`;
    const expected = { protocol: "https", secure: true, href, ofRequest: ["https", href] };
    expect(JSON.parse(body)).to.deep.equal(expected);
    expect(headers["set-cookie"]).to.deep.equal(["a=b; path=/; secure; httponly"]);
    own.server.closeAllConnections();
  });

  it("redirects back to its own site, and not to another scheme of it", async () => {
    using own = await listening(https.createServer({ key, cert }, builder().build().callback()));

    const places = ["https", "http"].map((scheme) => `${scheme}://127.0.0.1:${own.port}/page?x=1`);
    const answers = await Promise.all(places.map((referer) => ask(own.port, "/back", { referer })));

    expect(answers.map(({ headers }) => headers.location)).to.deep.equal(["/page?x=1", "/fallback"]);
    own.server.closeAllConnections();
  });

  it("uses the scheme of a trusted proxy instead of that of the connection", async () => {
    const apps = [builder().trustedProxies("127.0.0.1").build(), builder().build()];
    const seen: unknown[] = [];
    for (const app of apps) {
      using own = await listening(https.createServer({ key, cert }, app.callback()));
      const { body } = await ask(own.port, "/", { "X-Forwarded-Proto": "http" });
      seen.push((JSON.parse(body) as { protocol: unknown }).protocol);
      own.server.closeAllConnections();
    }

    expect(seen).to.deep.equal(["http", "https"]);
  });

  const servers: readonly (readonly [string, () => tls.Server])[] = [
    ["an https.Server", () => https.createServer({ key, cert })],
    ["a tls.Server", () => tls.createServer({ key, cert })],
  ];
  for (const [what, make] of servers) {
    it(`serves on ${what}, reports its address, and stops`, async () => {
      const { server, port } = await listening(make());
      const running = await builder().build().serve(server);
      const idle = await secured(port);
      idle.write("GET /up/live HTTP/1.1\r\nHost: x\r\n\r\n");
      const [said] = (await once(idle.setEncoding("utf8"), "data")) as [string];

      const { body } = await ask(port);
      idle.resume();
      await Promise.all([running.stop(), once(idle, "close")]);

      expect(said).to.match(/^HTTP\/1\.1 200 OK/);
      expect(JSON.parse(body)).to.include({ protocol: "https", secure: true });
      expect(running.url).to.equal(`https://127.0.0.1:${port}`);
      expect(server.listening).to.equal(false);
    });

    it(`closes an unused connection on ${what} one second after the listener stopped`, async () => {
      const { server, port } = await listening(make());
      const clock = new FakeClock();
      const running = await builder().provide(provide(Clock).useValue(clock)).build().serve(server);
      const quiet = await secured(port);
      const closed = once(quiet.resume(), "close");
      await until(async () => (await connectionsOf(server)) === 1);

      const stopping = running.stop();
      await until(() => clock.pending > 0);
      for (let step = 0; step < 25; step++) await clock.advanceAsync(50);
      await Promise.all([stopping, closed]);

      expect(server.listening).to.equal(false);
    });
  }

  it("ends an upgraded connection at the deadline of the drain", async () => {
    const { server, port } = await listening(https.createServer({ key, cert }));
    server.on("upgrade", (_request, socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n"));
    const clock = new FakeClock();
    const running = await builder().provide(provide(Clock).useValue(clock)).build().serve(server);
    const upgraded = await secured(port);
    upgraded.write("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n");
    await once(upgraded, "data");
    const closed = once(upgraded.resume(), "close");

    const stopping = running.stop();
    await until(() => clock.pending > 0);
    for (let step = 0; step < 630; step++) await clock.advanceAsync(50);

    await Promise.all([stopping, closed]);
    expect(server.listening).to.equal(false);
  });

  it("closes a connection that does not speak TLS, and continues to serve", async () => {
    const { server, port } = await listening(https.createServer({ key, cert }));
    const running = await builder().build().serve(server);

    const plain = http.get({ host: "127.0.0.1", port, agent: false });
    const [error] = (await once(plain, "error").catch((thrown: unknown) => [thrown])) as [Error];
    const { body } = await ask((server.address() as AddressInfo).port);
    await running.stop();

    expect(error).to.be.instanceOf(Error);
    expect(JSON.parse(body)).to.include({ secure: true });
  });
});

function connectionsOf(server: tls.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
