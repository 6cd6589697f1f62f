/**
 * Middleware written for Koa, added by `.layer()` unchanged from npm. It must work here as it does on Koa.
 */
import { createHash } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import cors from "@koa/cors";
import { expect } from "chai";
import compress from "koa-compress";
import helmet from "koa-helmet";
import session from "koa-session";
import { Application, NotFoundError, Route, Routes, type Context, type KoaMiddleware } from "@stagecraft/framework";
import { expectProblem, testApp } from "@stagecraft/framework/testing";
import { obeysLayerContract } from "@stagecraft/framework/testing/contracts";

const LONG = "a sentence that is worth compressing\n".repeat(200);

const routes = new Routes([
  Route.get("/text", () => LONG),
  Route.get("/short", () => "short"),
  Route.get("/json", () => ({ list: Array.from({ length: 500 }, (_value, at) => at) })),
  Route.get("/bytes", (ctx: Context) => {
    ctx.type = "text/css";
    return new TextEncoder().encode(LONG);
  }),
  Route.get("/stream", (ctx: Context) => {
    ctx.type = "text/plain";
    return Readable.from([LONG, LONG]);
  }),
  Route.get("/broken", (ctx: Context) => {
    ctx.type = "text/plain";
    return Readable.from(failing());
  }),
  Route.get("/missing", () => {
    throw new NotFoundError("nothing of that name");
  }),
  Route.get("/panic", () => {
    throw new Error("a panic");
  }),
  Route.get("/count", (ctx: Context) => count(ctx)),
  Route.get("/forget", (ctx: Context) => {
    Object.assign(ctx, { session: null });
    return "forgotten";
  }),
]);

async function* failing(): AsyncGenerator<string> {
  yield LONG;
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error("disk on fire");
}

interface Counting {
  session: { count?: number };
}

function count(ctx: Context): string {
  // koa-session sets it.
  const { session: record } = ctx as Context & Counting;
  record.count = (record.count ?? 0) + 1;
  return String(record.count);
}

const served = (...layers: readonly KoaMiddleware[]) =>
  testApp(
    Application.create()
      .routes(routes)
      .layer(...layers),
  );

describe("koa-compress as a layer", () => {
  const decode = { gzip: gunzipSync, br: brotliDecompressSync } as const;
  for (const path of ["/text", "/json", "/bytes", "/stream"]) {
    for (const encoding of ["gzip", "br"] as const) {
      it(`encodes ${path} as ${encoding}`, async () => {
        await using app = await served(compress({ threshold: 100 }));

        const [plain, response] = [
          await app.get(path, { headers: { "Accept-Encoding": "identity" } }),
          await app.get(path, { headers: { "Accept-Encoding": encoding } }),
        ];

        const bytes = decode[encoding](Buffer.from(await response.arrayBuffer()));
        expect(bytes.toString()).to.equal(await plain.text());
        expect(response.headers.get("content-encoding")).to.equal(encoding);
        expect(response.headers.get("content-length")).to.equal(null);
        expect(response.headers.get("vary")).to.equal("Accept-Encoding");
        expect(response.headers.get("content-type")).to.equal(plain.headers.get("content-type"));
      });
    }
  }

  it("does not compress a short body", async () => {
    await using app = await served(compress({ threshold: 100 }));

    const response = await app.get("/short", { headers: { "Accept-Encoding": "gzip" } });

    expect(response.headers.get("content-encoding")).to.equal(null);
    expect(response.headers.get("content-length")).to.equal("5");
    expect(await response.text()).to.equal("short");
  });

  it("truncates a body whose stream fails", async () => {
    await using app = await served(compress({ threshold: 100 }));

    const response = await app.get("/broken", { headers: { "Accept-Encoding": "gzip" } });

    expect(
      await response.arrayBuffer().then(
        () => "ended",
        () => "cut",
      ),
    ).to.equal("cut");
    expect((await app.get("/short")).status).to.equal(200);
  });

  it("lets errors become responses", async () => {
    await using app = await served(compress({ threshold: 1 }));

    const response = await app.get("/missing", { headers: { "Accept-Encoding": "gzip" } });

    await expectProblem(response, { status: 404, detail: "nothing of that name" });
  });
});

describe("@koa/cors as a layer", () => {
  const origin = "https://front.example";

  it("names the origin and keeps its headers on errors", async () => {
    await using app = await served(cors({ origin, credentials: true }));

    for (const path of ["/short", "/missing", "/nowhere"]) {
      const response = await app.get(path, { headers: { Origin: origin } });

      expect(response.headers.get("access-control-allow-origin"), path).to.equal(origin);
      expect(response.headers.get("access-control-allow-credentials"), path).to.equal("true");
      expect(response.headers.get("vary"), path).to.equal("Origin");
    }
  });

  it("responds to a preflight", async () => {
    await using app = await served(cors({ origin, maxAge: 60 }));

    const response = await app.options("/short", {
      headers: { Origin: origin, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-a" },
    });

    expect([response.status, await response.text()]).to.deep.equal([204, ""]);
    expect(response.headers.get("access-control-allow-methods")).to.equal("GET,HEAD,PUT,POST,DELETE,PATCH");
    expect(response.headers.get("access-control-allow-headers")).to.equal("x-a");
    expect(response.headers.get("access-control-max-age")).to.equal("60");
  });

  it("leaves an unhandled error to the framework", async () => {
    await using app = await served(cors({ origin }));

    await expectProblem(await app.get("/panic", { headers: { Origin: origin } }), { status: 500, detail: null });
  });
});

describe("koa-helmet as a layer", () => {
  it("puts its headers on responses, errors included", async () => {
    await using app = await served(helmet());

    for (const path of ["/short", "/missing", "/nowhere"]) {
      const { headers } = await app.get(path);

      expect(headers.get("content-security-policy"), path).to.include("default-src 'self'");
      expect(headers.get("x-content-type-options"), path).to.equal("nosniff");
      expect(headers.get("strict-transport-security"), path).to.match(/^max-age=\d+/);
    }
  });
});

function counting(options: Parameters<typeof session>[0] = {}) {
  const builder = Application.create().routes(routes);
  builder.koa.keys = ["a key of the test"];
  return builder.layer(session(options, builder.koa) as KoaMiddleware);
}

describe("koa-session as a layer", () => {
  it("keeps a count in a signed cookie", async () => {
    await using app = await testApp(counting());
    const browser = app.withCookies();

    const counts = [await browser.get("/count"), await browser.get("/count"), await browser.get("/count")];

    expect(await Promise.all(counts.map((each) => each.text()))).to.deep.equal(["1", "2", "3"]);
    const [cookie = "", signature = ""] = counts[0]?.headers.getSetCookie() ?? [];
    expect(cookie).to.match(/^koa\.sess=.*; httponly$/);
    expect(signature).to.match(/^koa\.sess\.sig=/);
  });

  it("rejects a changed cookie", async () => {
    await using app = await testApp(counting());
    const browser = app.withCookies();
    await browser.get("/count");
    const forged = Buffer.from(JSON.stringify({ count: 99, _expire: Date.now() + 60_000, _maxAge: 60_000 }));

    const response = await browser.get("/count", { headers: { Cookie: `koa.sess=${forged.toString("base64")}` } });

    expect(await response.text()).to.equal("1");
  });

  it("keeps it in a store, under an id", async () => {
    const records = new Map<string, unknown>();
    const store = {
      get: async (key: string) => records.get(key),
      set: async (key: string, value: unknown) => void records.set(key, value),
      destroy: async (key: string) => void records.delete(key),
    };
    await using app = await testApp(counting({ store, genid: () => createHash("sha1").update("x").digest("hex") }));
    const browser = app.withCookies();

    await browser.get("/count");
    const second = await browser.get("/count");

    expect(await second.text()).to.equal("2");
    expect([...records.keys()]).to.have.lengthOf(1);
    await browser.get("/forget");
    expect(records.size).to.equal(0);
  });

  it("drops the cookie when the session ends", async () => {
    await using app = await testApp(counting());
    const browser = app.withCookies();
    await browser.get("/count");

    await browser.get("/forget");

    expect(await (await browser.get("/count")).text()).to.equal("1");
  });

  it("saves the changes of a request that fails with a status", async () => {
    await using app = await testApp(
      counting().layer(async (ctx: Context & Counting, next: () => Promise<void>) => {
        count(ctx);
        await next();
      }),
    );
    const browser = app.withCookies();

    const failed = await browser.get("/missing");
    const counted = await browser.get("/count");

    await expectProblem(failed, { status: 404 });
    expect(await counted.text()).to.equal("3");
  });
});

interface Parsing {
  readonly onerror?: (error: Error & { readonly status?: number }, ctx: Context) => void;
}

/** Reads a body as the parsers for Koa do: they throw their own error with a status. */
function bodyParser({ onerror }: Parsing = {}): KoaMiddleware {
  return async (ctx: Context, next) => {
    try {
      // Koa's type of `ctx.request` has no body.
      Object.assign(ctx.request, { body: JSON.parse(await text(ctx.req)) as unknown });
    } catch (error) {
      // JSON.parse throws it.
      const failure = Object.assign(error as SyntaxError, { status: 400 });
      if (onerror === undefined) throw failure;
      onerror(failure, ctx);
    }
    await next();
  };
}

const refuseBody = ({ status = 400 }: { readonly status?: number }, ctx: Context): never =>
  ctx.throw(status, "The request body cannot be read.");

describe("a body parser as a layer", () => {
  const posts = new Routes([Route.post("/", ({ request }) => (request as { body?: unknown }).body)]);
  const serving = (parser: KoaMiddleware) => testApp(Application.create().routes(posts).layer(parser));

  it("puts the body on Koa's request", async () => {
    await using app = await serving(bodyParser());

    expect(await (await app.post("/", { json: { a: 1 } })).json()).to.deep.equal({ a: 1 });
  });

  it("gets the response 500 where it throws its own error with a status", async () => {
    await using app = await serving(bodyParser());

    await expectProblem(await app.post("/", { body: "{" }), { status: 500, detail: null });
    expect(app.logs.transcript()).to.include('"message":"panic"');
  });

  it("gets a response with the status where its hook calls ctx.throw", async () => {
    await using app = await serving(bodyParser({ onerror: refuseBody }));

    const response = await app.post("/", { body: "{" });

    await expectProblem(response, { status: 400, slug: "bad-request", detail: "The request body cannot be read." });
  });
});

/** Refuses as koa-send does: with an error of another copy of the package than Koa's, with a status. */
const files: KoaMiddleware = async (ctx: Context, next) => {
  if (ctx.path.includes("..")) throw Object.assign(new Error("Forbidden"), { status: 403, expose: true });
  if (ctx.path === "/unreadable") throw Object.assign(new Error("EIO"), { status: 500 });
  if (ctx.path === "/file") ctx.body = "of a file";
  else await next();
};

/** As in the guide. */
function refusing(middleware: KoaMiddleware): KoaMiddleware {
  return async (ctx: Context, next) => {
    let goesOn = false;
    try {
      await middleware(ctx, async () => void (goesOn = true));
    } catch (error) {
      // Any value may be thrown; a value without a status is an unhandled error.
      const { status = 500 } = error as { readonly status?: number };
      if (status >= 400 && status < 500) ctx.throw(status);
      throw error;
    }
    if (goesOn) await next();
  };
}

const fileRoutes = new Routes([
  Route.get("/route", () => "of a route"),
  Route.get("/upstream", () => {
    throw Object.assign(new Error("of a service further behind"), { status: 404 });
  }),
]);

const servingFiles = (layer: KoaMiddleware) => testApp(Application.create().routes(fileRoutes).layer(layer));

describe("middleware for files as a layer", () => {
  const escaping = "/a/%2e%2e/..%2fsecret";

  it("gets the response 500 where it throws its own error for a path outside the root", async () => {
    await using app = await servingFiles(files);

    await expectProblem(await app.get(escaping), { status: 500, detail: null });
  });

  it("refuses such a path with 403 inside the layer of the guide", async () => {
    await using app = await servingFiles(refusing(files));

    await expectProblem(await app.get(escaping), { status: 403 });
    expect(app.logs.transcript()).not.to.include('"message":"panic"');
  });

  for (const [path, status, body] of [
    ["/file", 200, "of a file"],
    ["/route", 200, "of a route"],
    ["/nowhere", 404, ""],
  ] as const) {
    it(`responds to ${path} inside that layer as without it`, async () => {
      await using app = await servingFiles(refusing(files));

      const response = await app.get(path);

      expect([response.status, await response.text()]).to.deep.equal([status, body]);
    });
  }

  for (const path of ["/unreadable", "/upstream"]) {
    it(`leaves the error of ${path} an unhandled error inside that layer`, async () => {
      await using app = await servingFiles(refusing(files));

      await expectProblem(await app.get(path), { status: 500, detail: null });
      expect(app.logs.transcript()).to.include('"message":"panic"');
    });
  }
});

const byHand = (ctx: Context) => {
  ctx.respond = false;
  ctx.res.writeHead(200, { "X-Own": "1" });
  new PassThrough().end("by hand").pipe(ctx.res);
};

describe("all of them at once", () => {
  it("work inside each other", async () => {
    const builder = Application.create().routes(routes).securityHeaders().compression();
    builder.koa.keys = ["k"];
    builder.layer(compress({ threshold: 1 }), cors({ origin: "*" }), helmet(), session(builder.koa) as KoaMiddleware);
    await using app = await testApp(builder);

    const response = await app.get("/count", { headers: { Origin: "https://a.example", "Accept-Encoding": "gzip" } });

    expect(gunzipSync(Buffer.from(await response.arrayBuffer())).toString()).to.equal("1");
    expect(response.headers.get("content-security-policy")).to.include("default-src");
    expect(response.headers.get("access-control-allow-origin")).to.equal("*");
    expect(response.headers.getSetCookie()).to.have.lengthOf(2);
    expect(response.headers.get("content-encoding")).to.equal("gzip");
  });

  const types = [
    ["/text", "text/plain; charset=utf-8"],
    ["/json", "application/json"],
    ["/bytes", "text/css; charset=utf-8"],
    ["/missing", "application/problem+json"],
    ["/panic", "application/problem+json"],
  ] as const;
  for (const [path, type] of types) {
    it(`leave ${path} its type, though they ask Koa's response for it`, async () => {
      const builder = Application.create().routes(routes).catchPanic().errorMapping();
      await using app = await testApp(builder.layer(cors({ origin: "*" }), compress({ threshold: 1e6 }), helmet()));

      const response = await app.get(path);

      expect(response.headers.get("content-type")).to.equal(type);
    });
  }

  it("leave a hand-written response alone", async () => {
    await using app = await testApp(
      Application.create()
        .routes(new Routes([Route.get("/", byHand)]))
        .layer(cors({ origin: "*" }), helmet()),
    );

    const response = await app.get("/", { headers: { Origin: "https://a.example" } });

    expect([await response.text(), response.headers.get("x-own")]).to.deep.equal(["by hand", "1"]);
  });

  it("obey the contract of layers as far as they do on Koa", async () => {
    // To keep headers on errors it writes to the thrown value, even to null.
    const withoutErrors = cors({ origin: "*", keepHeadersOnError: false });
    await obeysLayerContract(withoutErrors, { request: { headers: { Origin: "https://a.example" } } });
    await obeysLayerContract(helmet() as KoaMiddleware);
    await obeysLayerContract(compress({ threshold: 1 }), { request: { headers: { "Accept-Encoding": "gzip" } } });
  });
});
