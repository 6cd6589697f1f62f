/** Frameworks, middleware and test tools that get `callback()` in place of a server. */
import { Readable } from "node:stream";
import { comparable } from "../ask.mjs";

const HANDLER = (ctx) => {
  if (ctx.path === "/object") ctx.body = { path: ctx.path, url: ctx.originalUrl };
  else if (ctx.path === "/throws") ctx.throw(418);
  else if (ctx.path === "/stream") ctx.body = Readable.from(["a".repeat(500), "b".repeat(500)]);
  else if (ctx.path === "/cookie") {
    ctx.cookies.set("a", "1");
    ctx.cookies.set("b", "2");
    ctx.status = 204;
  } else ctx.body = "text ".repeat(500);
};

const PATHS = ["/text", "/object", "/throws", "/stream", "/cookie"];

/** All of them ask the same. */
async function ask(host, headers = {}) {
  for (const path of PATHS) await host.get(path, { headers });
  await host.ask("HEAD", "/object", { headers });
  await host.ask("POST", "/object", { headers, body: "unread" });
}

/** For middleware in the form of connect: `(request, response, next)`. */
function before(make, headers) {
  return async (host, module) => {
    host.handle(HANDLER);
    const middleware = make(module);
    const callback = host.callback();
    await host.serve((request, response) => middleware(request, response, () => callback(request, response)));
    await ask(host, headers);
  };
}

/** For frameworks that mount a listener. */
function mounted(host, module) {
  host.handle(HANDLER);
  const outer = module();
  outer.use("/mounted", host.callback());
  return host.serve(outer).then(async () => {
    for (const path of [...PATHS.map((each) => `/mounted${each}`), "/other"]) await host.get(path);
    await host.ask("POST", "/mounted/object", { body: "unread" });
  });
}

export const IN_FRONT = [
  {
    package: "on-headers",
    minor: true,
    use: "`onHeaders(response, listener)`, then `callback()`",
    run: before((onHeaders) => (_request, response, next) => {
      onHeaders(response, function () {
        this.setHeader("X-Late", `${this.statusCode}`);
      });
      next();
    }),
  },
  {
    package: "compression",
    minor: true,
    use: "`compression()`, then `callback()`",
    run: before((compression) => compression({ threshold: 100 }), { "accept-encoding": "gzip" }),
  },
  { package: "helmet", use: "`helmet()`, then `callback()`", run: before((helmet) => helmet()) },
  {
    package: "morgan",
    use: "`morgan(format)`, then `callback()`",
    async run(host, morgan) {
      const lines = [];
      const format = ":method :url :status :res[content-length] :res[content-type]";
      await before(() => morgan(format, { stream: { write: (line) => lines.push(line.trim()) } }))(host);
      host.note(
        "lines",
        lines.filter((line) => !line.includes("/throws")),
      );
    },
  },
  ...["express-4", "express"].map((alias) => ({
    package: "express",
    alias,
    use: "`express().use(path, callback())`",
    run: mounted,
  })),
  { package: "connect", use: "`connect().use(path, callback())`", run: mounted },
  {
    package: "supertest",
    use: "`supertest(callback())`",
    async run(host, supertest) {
      host.handle(HANDLER);
      const agent = supertest(host.callback());
      for (const path of PATHS) host.note(path, toResponse(await agent.get(path)));
      host.note("POST /object", toResponse(await agent.post("/object").send({ a: 1 })));
    },
  },
  {
    package: "light-my-request",
    use: "`inject(callback(), request)`",
    async run(host, inject) {
      host.handle(HANDLER);
      const callback = host.callback();
      for (const url of PATHS) {
        const { statusCode: status, headers, payload: text } = await inject(callback, { url });
        host.note(url, toResponse({ status, headers, text }));
      }
    },
  },
  {
    package: "serverless-http",
    use: "`serverless({ callback })`",
    async run(host, serverless) {
      host.handle(HANDLER);
      const callback = host.callback();
      const handler = serverless({ callback: () => callback });
      for (const path of PATHS) {
        const event = { httpMethod: "GET", path, headers: { host: "a" }, requestContext: {} };
        const { statusCode: status, headers, multiValueHeaders, body } = await handler(event, {});
        host.note(path, toResponse({ status, headers: { ...headers, ...multiValueHeaders }, text: body }));
      }
    },
  },
];

function toResponse({ status, headers, text = "" }) {
  return comparable({ status, headers, body: text });
}
