/** The page "behind a proxy": each proxy runs with its file of the page, in front of two processes of a release. */
import { once } from "node:events";
import https from "node:https";
import http from "node:http";
import { expect } from "chai";
import { Certificate } from "../support/certificate.js";
import { Child } from "../support/child.js";
import { freePort } from "../support/free-port.js";
import { needs } from "../support/machine.js";
import { ProxyServer, USER, type ProxyName } from "../support/proxy-server.js";
import { until } from "../support/until.js";

const NAMES: readonly ProxyName[] = ["haproxy", "caddy", "nginx"];
const CLIENTS = 4;
/** So many responses show that there is load. */
const ENOUGH = 100;

function startApplication(port: number): Promise<Child> {
  return Child.start("../running/proxied-application.js", { NODE_ENV: "production" }, { port });
}

/** One client, which alternates between two methods; nginx repeats only a GET. It adds each response that is not the expected one. */
async function askAgain(proxy: ProxyServer, load: { over: boolean; responses: number }, failures: unknown[]) {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  while (!load.over) {
    const body = proxy.name === "nginx" || load.responses % 2 === 0 ? undefined : "four";
    const path = body === undefined ? "/process" : "/bytes";
    const response = await proxy.ask(path, { agent }, body).catch((error: unknown) => ({ status: 0, body: error }));
    load.responses += 1;
    if (response.status !== 200) failures.push({ proxy: proxy.name, path, ...response });
  }
  agent.destroy();
}

function findProxy(proxies: readonly ProxyServer[], index: number): ProxyServer {
  const proxy = proxies[index];
  if (proxy === undefined) throw new Error(`${NAMES[index]} does not run`);
  return proxy;
}

describe("behind a proxy", function () {
  this.timeout(60_000);
  this.slow(30_000);
  before(needs("openssl", ...NAMES));
  let certificate: Certificate;
  let children: Child[] = [];
  const proxies: ProxyServer[] = [];

  before(async () => {
    certificate = await Certificate.for(USER);
    const targets = [await freePort(), await freePort()] as const;
    children = await Promise.all(targets.map(startApplication));
    await Promise.all(children.map((child) => child.serves()));
    for (const name of NAMES) proxies.push(await ProxyServer.start(name, targets, certificate));
  });

  after(async () => {
    for (const each of [...proxies, ...children]) await each[Symbol.asyncDispose]();
    await certificate[Symbol.asyncDispose]();
  });

  const logged = (pattern: RegExp) => children.flatMap(({ errors }) => errors.match(pattern) ?? []);

  for (const [index, name] of NAMES.entries())
    describe(name, () => {
      it("gives the address of the client and the protocol, and not those that the client writes", async () => {
        const headers = { "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "http", Host: "shop.example:8443" };
        const { body } = await findProxy(proxies, index).ask("/client", { headers });

        expect(JSON.parse(body)).to.deep.equal({ ip: "127.0.0.9", protocol: "https", host: "shop.example:8443" });
      });

      it("passes each event on at once", async () => {
        const request = https.get({ ...findProxy(proxies, index).from, path: "/events" });
        const [response] = (await once(request, "response")) as [http.IncomingMessage];
        let received = "";
        response.setEncoding("utf8").on("data", (piece: string) => (received += piece));
        const ended = once(response, "end");
        await until(() => received.includes("first"));
        // The process that has the stream is one of two.
        await Promise.all(children.map(({ url }) => fetch(`${url}/events/next`, { method: "POST" })));
        await ended;

        expect(received).to.match(/data: first\n\n[\s\S]*data: second\n\n/);
      });

      it("passes an upgrade on", async () => {
        const headers = { Connection: "Upgrade", Upgrade: "echo" };
        const request = https.get({ ...findProxy(proxies, index).from, path: "/live", headers });
        const [, socket] = (await once(request, "upgrade")) as [unknown, import("node:net").Socket];
        socket.write("over and back");
        const [received] = (await once(socket, "data")) as [Buffer];
        socket.destroy();

        expect(received.toString()).to.equal("over and back");
      });

      it("lets the application refuse a large upload, once", async () => {
        const id = `large-upload-${name}`;
        const headers = { "x-request-id": id };
        const {
          status,
          body,
          headers: got,
        } = await findProxy(proxies, index).ask("/bytes", { headers }, "x".repeat(2_000_000));
        await until(() => logged(new RegExp(id, "g")).length > 0);

        expect(status).to.equal(413);
        expect(JSON.parse(body)).to.include({ type: "urn:framework:problem:payload-too-large" });
        expect(got["x-request-id"]).to.equal(id);
        expect(logged(new RegExp(`^.*${id}.*$`, "gm"))).to.have.length(1);
      });

      it("refuses a far too large upload itself", async () => {
        const headers = { "x-request-id": `huge-${name}`, "Content-Length": String(21 * 2 ** 20) };
        const request = https.request({ ...findProxy(proxies, index).from, path: "/bytes", method: "POST", headers });
        request.on("error", () => {}).flushHeaders();
        const [response] = (await once(request, "response")) as [http.IncomingMessage];
        request.destroy();

        expect(response.statusCode).to.equal(413);
        expect(logged(new RegExp(`huge-${name}`, "g"))).to.have.length(0);
      });

      // Caddy does it beside the certificates that it gets, which a spec cannot have.
      if (name !== "caddy")
        it("leads from http to https", async () => {
          const url = `http://127.0.0.1:${findProxy(proxies, index).http}/client?a=1`;
          const response = await fetch(url, { redirect: "manual" });

          expect(response.status).to.equal(308);
          expect(response.headers.get("location")).to.match(/^https:\/\/127\.0\.0\.1.*\/client\?a=1$/);
        });
    });

  it("no request fails while both processes are replaced under load", async () => {
    const failures: unknown[] = [];
    const loads = proxies.map(() => ({ over: false, responses: 0 }));
    const clients = proxies.flatMap((proxy, index) =>
      Array.from({ length: CLIENTS }, () => askAgain(proxy, loads[index] ?? { over: true, responses: 0 }, failures)),
    );
    for (const [index, old] of children.entries()) {
      const counts = loads.map(({ responses }) => responses + ENOUGH);
      await until(() => loads.every(({ responses }, each) => responses > (counts[each] ?? 0)));
      old.kill("SIGTERM");
      expect(await old.exitCode()).to.equal(0);
      const next = await startApplication(old.port);
      children[index] = next;
      await next.serves();
      for (const proxy of proxies)
        await until(
          async () => (await proxy.ask("/process")).body === String(next.pid),
          () => proxy.name,
        );
    }
    for (const load of loads) load.over = true;
    await Promise.all(clients);

    expect(failures.slice(0, 5)).to.deep.equal([]);
    for (const { responses } of loads) expect(responses).to.be.above(2 * ENOUGH);
  });
});
