import { expect } from "chai";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http, { type IncomingMessage, type Server, type ServerResponse } from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { Application } from "../../../lib/app/application.js";
import type { Context } from "../../../lib/http/request/context.js";
import { NotFoundError } from "../../../lib/errors/framework-error.js";
import { Route } from "../../../lib/routing/route.js";
import { Routes } from "../../../lib/routing/routes.js";
import {
  DevFallbackLayer,
  DevProxyLayer,
  readDevProxyState,
  type DevProxyOptions,
  ForwardedPaths,
} from "../../../lib/stages/dev-proxy/dev-proxy.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { listeningOn } from "../../support/listening-on.js";
import { PATIENT } from "../../support/patient.js";

function isOn(options: DevProxyOptions): boolean | undefined {
  const rows = Application.create().devProxy(options).build().pipeline();
  return rows.find(({ slot }) => slot === "devProxy")?.on;
}

function upgrade(protocol: string): string {
  const lines = ["Host: shop.local", "Origin: http://shop.local", "Connection: Upgrade", "Upgrade: websocket"];
  return ["GET /?token=t HTTP/1.1", ...lines, `Sec-WebSocket-Protocol: ${protocol}`, "", ""].join("\r\n");
}

/** Responds when the first bytes of a request have arrived, and closes. */
const HASTY_SERVER = `
const { parentPort, workerData } = require("node:worker_threads");
const answer = "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 2\\r\\n\\r\\nok";
require("node:net")
  .createServer((socket) => socket.on("error", () => {}).once("data", () => socket.end(answer, () => socket.destroy())))
  .listen(workerData, () => parentPort.postMessage("listening"));
`;

describe("the state of the development proxy", () => {
  const rows: readonly (readonly [string, DevProxyOptions, Record<string, string>, "debug" | "release", unknown])[] = [
    ["off without an endpoint", {}, {}, "debug", "off"],
    ["off with a blank endpoint", {}, { FRAMEWORK_VITE_IPC: " " }, "debug", "off"],
    ["off with a blank option", { endpoint: "" }, {}, "debug", "off"],
    [
      "on by the environment",
      {},
      { FRAMEWORK_VITE_IPC: "/v" },
      "debug",
      { endpoint: "/v", prefixes: ["/resources/", "/src/"] },
    ],
    ["on by its option", { endpoint: "/v" }, {}, "debug", { endpoint: "/v", prefixes: ["/resources/", "/src/"] }],
    ["ignored in a release build", {}, { FRAMEWORK_VITE_IPC: "/v" }, "release", "ignored"],
    ["off in a release build without an endpoint", {}, {}, "release", "off"],
    [
      "with prefixes of the environment",
      { endpoint: "/v" },
      { FRAMEWORK_VITE_PREFIXES: " /a/, /b ,,/" },
      "debug",
      { endpoint: "/v", prefixes: ["/a/", "/b"] },
    ],
    [
      "with the default where nothing is left",
      { endpoint: "/v" },
      { FRAMEWORK_VITE_PREFIXES: " ,/," },
      "debug",
      { endpoint: "/v", prefixes: ["/resources/", "/src/"] },
    ],
    [
      "with prefixes of the option",
      { endpoint: "/v", prefixes: ["/x/"] },
      {},
      "debug",
      { endpoint: "/v", prefixes: ["/x/"] },
    ],
  ];
  for (const [what, options, environment, profile, expected] of rows) {
    it(`is ${what}`, () => expect(readDevProxyState(options, { profile, environment })).to.deep.equal(expected));
  }

  it("is shown in the pipeline", () => {
    expect([isOn({ endpoint: "/v" }), isOn({ endpoint: " " })]).to.deep.equal([true, false]);
  });
});

describe("the paths of the development server", () => {
  const paths = new ForwardedPaths(["/src/", "resources"], "pages/main.tsx");
  for (const [path, expected] of [
    ["/@vite/client", true],
    ["/@id/x", true],
    ["/@fs/home/x.ts", true],
    ["/@react-refresh", true],
    ["/node_modules/.vite/deps/react.js", true],
    ["/node_modules/linked/style.css", true],
    ["/__open-in-editor", true],
    ["/src/main.ts", true],
    ["/src", true],
    ["/srcs/main.ts", false],
    ["/resources/a.css", true],
    ["/pages/main.tsx", true],
    ["/pages/links/index.tsx", true],
    ["/pages/7", false],
    ["/pages", false],
    ["/other/main.tsx", false],
    ["/", false],
    ["/__inertia_ssr", false],
  ] as const) {
    it(`${expected ? "include" : "do not include"} ${path}`, () => expect(paths.includes(path)).to.equal(expected));
  }

  it("are the paths below the base of Vite, and no others", () => {
    const based = new ForwardedPaths(["/src/"], "pages/main.tsx", "/build/");
    const all = ["/build/@vite/client", "/build/pages/main.tsx", "/build/", "/build", "/@vite/client", "/src/a.ts"];

    expect(all.filter((path) => based.includes(path))).to.deep.equal(all.slice(0, 3));
  });

  it("include no directory for an entry without one", () => {
    expect(new ForwardedPaths([], "main.tsx").includes("/main.tsx")).to.equal(false);
  });
});

describe("the development proxy", () => {
  let directory = "";
  let endpoint = "";
  let vite: Server;
  let respond: (incoming: IncomingMessage, response: ServerResponse) => void;
  const seen: string[] = [];

  const start = async (): Promise<void> => {
    vite = http.createServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url}`);
      respond(incoming, response);
    });
    vite.on("upgrade", (incoming, socket) => {
      seen.push(`upgrade ${incoming.url} ${incoming.headers.host} ${incoming.headers.origin}`);
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
      socket.on("data", (bytes: Buffer) => socket.write(`echo ${bytes.toString()}`)).on("error", () => undefined);
    });
    await listeningOn(vite, endpoint);
  };
  const stop = (): void => {
    vite.close();
    vite.closeAllConnections();
  };

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "vite-"));
    endpoint = join(directory, "vite.sock");
    seen.length = 0;
    respond = (incoming, response) => response.writeHead(200, { "X-Vite": "1" }).end(`vite ${incoming.url}`);
    await start();
  });
  afterEach(async () => {
    stop();
    await rm(directory, { recursive: true });
  });

  const application = () =>
    Application.create()
      .devProxy({ endpoint })
      .requestId()
      .errorMapping()
      .routes(
        new Routes([
          Route.get("/app", () => "the application"),
          Route.get("/src/{*rest}", () => "the application's own source"),
          Route.get("/none", () => Promise.reject(new NotFoundError("none"))),
          Route.post("/@echo", (ctx: Context) => ctx.text()),
        ]),
      );

  it("forwards requests for sources, before any other stage", async () => {
    await using app = await testApp(application());

    const response = await app.get("/src/a%20b.ts?t=1&x");

    expect(await response.text()).to.equal("vite /src/a%20b.ts?t=1&x");
    expect([response.headers.get("x-vite"), response.headers.get("x-request-id")]).to.deep.equal(["1", null]);
    expect(response.headers.get("content-type")).to.equal(null);
  });

  it("passes on method, headers and body, without the headers of the connection", async () => {
    let got: Record<string, unknown> = {};
    respond = (incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const { host, "x-a": own, "x-hop": hop, te } = incoming.headers;
        got = { method: incoming.method, host, own, hop, te, body: Buffer.concat(chunks).toString() };
        response.writeHead(201, { "Set-Cookie": ["a=1", "b=2"], Connection: "X-Back", "X-Back": "1" }).end("made");
      });
    };
    await using app = await testApp(application());

    const answer = await app.raw(
      "PUT /@x HTTP/1.1\r\nHost: shop.local\r\nX-A: 1\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nContent-Length: 4\r\n\r\nbody",
      PATIENT,
    );

    expect(got).to.deep.equal({
      method: "PUT",
      host: "shop.local",
      own: "1",
      hop: undefined,
      te: undefined,
      body: "body",
    });
    const text = answer.toString().toLowerCase();
    expect(text)
      .to.match(/^http\/1\.1 201 /)
      .and.contain("set-cookie: a=1")
      .and.contain("set-cookie: b=2");
    expect(text).not.to.contain("x-back");
  });

  it("leaves requests to the application, and forwards paths without a route to Vite", async () => {
    await using app = await testApp(application());

    const [own, other, post] = [await app.get("/app"), await app.get("/vite.svg"), await app.post("/vite.svg")];

    expect(await own.text()).to.equal("the application");
    expect(await other.text()).to.equal("vite /vite.svg");
    expect(post.status).to.equal(404);
    expect(seen).to.deep.equal(["GET /vite.svg"]);
  });

  it("leaves the 404 to the application if Vite responds with 404, and does not forward after the 404 of a handler", async () => {
    respond = (_incoming, response) => response.writeHead(404).end("vite knows nothing");
    await using app = await testApp(application());

    const [unknown, refused] = [await app.get("/unknown"), await app.get("/none")];

    expect([unknown.status, unknown.headers.get("content-type")]).to.deep.equal([404, "application/problem+json"]);
    expect(refused.status).to.equal(404);
    expect(seen).to.deep.equal(["GET /unknown"]);
  });

  it("lets the application respond while Vite is down, to bodies too, and forwards when Vite is back", async () => {
    await using app = await testApp(application());
    stop();
    await rm(endpoint, { force: true });

    const down = [await app.get("/src/x.ts"), await app.post("/@echo", { body: "kept" })];
    await start();
    const back = await app.get("/src/x.ts");

    expect(await Promise.all(down.map((each) => each.text()))).to.deep.equal(["the application's own source", "kept"]);
    expect(await back.text()).to.equal("vite /src/x.ts");
  });

  it("responds with 502 where Vite dies before its response", async () => {
    respond = (incoming) => void incoming.socket.destroy();
    await using app = await testApp(application());

    const response = await app.get("/src/x.ts");

    expect([response.status, response.headers.get("content-type")]).to.deep.equal([502, "application/problem+json"]);
  });

  it("responds with 502 where Vite responds with an upgrade that no client asked for", async () => {
    respond = (incoming) =>
      void incoming.socket.write(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      );
    await using app = await testApp(application());

    expect((await app.get("/src/x.ts")).status).to.equal(502);
  });

  it("passes on responses whose connection Vite closes at once", async () => {
    const path = join(directory, "hasty.sock");
    // In a thread of its own: in this one the server could not close before the request is written whole.
    const server = new Worker(HASTY_SERVER, { eval: true, workerData: path });
    await once(server, "message");
    await using app = await testApp(Application.create().devProxy({ endpoint: path }));

    const answers = await Promise.all(Array.from({ length: 100 }, () => app.get("/@vite/client")));
    await server.terminate();

    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
  });

  it("truncates the response where Vite dies in its body", async () => {
    respond = (incoming, response) => {
      response.writeHead(200, { "Content-Length": "100" });
      response.write("a part");
      setImmediate(() => incoming.socket.destroy());
    };
    await using app = await testApp(application());

    const text = (await app.raw("GET /src/x.ts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", PATIENT)).toString();

    expect(text).to.match(/a part$/);
  });

  it("names the setting in a warning where Vite refuses the host", async () => {
    respond = (_incoming, response) => response.writeHead(403).end("Blocked request");
    await using app = await testApp(application());

    expect((await app.get("/src/x.ts")).status).to.equal(403);
    expect(app.logs.transcript()).to.contain("server.allowedHosts");
  });

  for (const protocol of ["vite-hmr", "vite-ping"]) {
    it(`tunnels upgrades of ${protocol} unchanged`, async () => {
      await using app = await testApp(application());
      const socket = net.connect(Number(new URL(app.url).port), "127.0.0.1").setEncoding("utf8");
      socket.write(upgrade(protocol));
      let text = "";
      for await (const part of socket) {
        text += String(part);
        if (text.includes("echo hello")) break;
        if (text.includes("\r\n\r\n")) socket.write("hello");
      }

      expect(text).to.match(/^HTTP\/1\.1 101 /);
      expect(seen).to.deep.equal(["upgrade /?token=t shop.local http://shop.local"]);
    });
  }

  it("refuses upgrades of other protocols", async () => {
    await using app = await testApp(application());

    expect((await app.raw(upgrade("chat"), PATIENT)).toString()).to.match(/^HTTP\/1\.1 400 /);
    expect(seen).to.deep.equal([]);
  });

  it("closes the socket at once while Vite is down", async () => {
    stop();
    await rm(endpoint, { force: true });
    await using app = await testApp(application());

    expect((await app.raw(upgrade("vite-hmr"), PATIENT)).toString()).to.equal("");
    await start();
  });

  it("obeys the layer contract in both places", async () => {
    stop();
    await rm(endpoint, { force: true });
    const settings = { endpoint, prefixes: ["/src/"] };

    await obeysLayerContract(new DevProxyLayer(settings, { entry: "pages/main.tsx", viteBase: "/" }));
    await obeysLayerContract(new DevFallbackLayer(settings));
    await start();
  });
});
