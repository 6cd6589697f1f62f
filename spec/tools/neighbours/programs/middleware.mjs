/** Middleware for Koa, as layers. */
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { folder, FORM_BODY, JSON_BODY, MULTIPART_BODY } from "./given.mjs";

/** Of a difference of several packages. */
const OWN_STATUS =
  "An error of its own with a status is an unhandled error: see [errors of middleware](koa.md#errors-of-middleware)";

async function parseBody(host) {
  host.handle((ctx) => {
    ctx.body = { parsed: ctx.request.body, raw: ctx.request.rawBody };
  });
  await host.start();
  await host.ask("POST", "/json", JSON_BODY);
  await host.ask("POST", "/form", FORM_BODY);
  await host.ask("POST", "/none");
  await host.ask("POST", "/malformed", { ...JSON_BODY, body: '{"a":' });
}

async function bodyParser(host, make) {
  host.use(make());
  await parseBody(host);
}

async function session(host, module) {
  host.koa.keys = ["a key of the programs"];
  host.use((module.createSession ?? module)({}, host.koa));
  host.handle((ctx) => {
    if (ctx.path === "/end") ctx.session = null;
    else ctx.session.views = (ctx.session.views ?? 0) + 1;
    ctx.body = { views: ctx.session?.views ?? "none" };
  });
  await host.start();
  for (const as of ["first", "second"]) await host.get("/", { as });
  await host.get("/end");
  await host.get("/", { as: "third" });
}

export const MIDDLEWARE = [
  {
    package: "koa-passport",
    use: "`.layer(passport.initialize(), passport.session())`",
    async run(host, passport) {
      const { Strategy } = await import("passport").then((module) => module.default);
      class ByName extends Strategy {
        name = "by-name";
        authenticate(request) {
          const { name } = request.query;
          if (name === undefined) this.fail({ message: "no name" }, 401);
          else this.success({ id: name, via: [request.ip !== "", request.protocol, request.secure, request.path] });
        }
      }
      passport.use(new ByName());
      passport.serializeUser((user, done) => done(null, JSON.stringify(user)));
      passport.deserializeUser((text, done) => done(null, JSON.parse(text)));
      const sessions = await import("koa-session");
      host.koa.keys = ["a key of the programs"];
      host.use((sessions.createSession ?? sessions.default)({}, host.koa), passport.initialize(), passport.session());
      host.use((ctx, next) => (ctx.path === "/login" ? passport.authenticate("by-name")(ctx, next) : next()));
      const go = passport.authenticate("by-name", { successRedirect: "/me", failureRedirect: "/no" });
      host.use((ctx, next) => (ctx.path === "/go" ? go(ctx, next) : next()));
      host.handle(async (ctx) => {
        if (ctx.path === "/logout") await ctx.logout();
        ctx.body = { user: ctx.state.user ?? "none", is: ctx.isAuthenticated() };
      });
      await host.start();
      await host.get("/me");
      await host.get("/login");
      await host.get("/go");
      await host.get("/go?name=ann");
      await host.get("/me", { as: "GET /me with a session" });
      await host.get("/logout");
      await host.get("/me", { as: "GET /me after /logout" });
    },
  },
  {
    package: "koa-error",
    use: "`.layer(error())`",
    async run(host, error) {
      const emitted = [];
      host.koa.on("error", ({ message }) => emitted.push(message));
      host.use(error({ engine: "ejs", template: join(folder, "error.ejs"), env: "production" }));
      host.use((ctx, next) => {
        if (ctx.path === "/teapot") ctx.throw(418, "a teapot");
        if (ctx.path === "/fails") throw new Error("secret");
        return next();
      });
      await host.start();
      for (const path of ["/teapot", "/fails", "/"]) {
        for (const accept of ["text/html", "application/json"]) {
          await host.get(path, { headers: { accept }, as: `GET ${path} for ${accept}` });
        }
      }
      host.note("emitted", emitted);
    },
  },
  {
    package: "koa2-swagger-ui",
    use: "`.layer(koaSwagger(options))`",
    async run(host, { koaSwagger }) {
      host.use(koaSwagger({ routePrefix: "/docs", swaggerOptions: { spec: { openapi: "3.0.0" } } }));
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      await host.get("/docs");
      await host.get("/favicon.png");
      await host.get("/");
    },
  },
  { package: "koa-bodyparser", use: "`.layer(bodyParser())`", because: OWN_STATUS, run: bodyParser },
  {
    package: "@koa/bodyparser",
    use: "`.layer(bodyParser())`",
    because: OWN_STATUS,
    run: (host, module) => bodyParser(host, module.bodyParser ?? module),
  },
  {
    package: "koa-body",
    use: "`.layer(koaBody())`",
    because: OWN_STATUS,
    async run(host, module) {
      host.use((module.koaBody ?? module)({ multipart: true, includeUnparsed: false }));
      await parseBody(host);
      await host.ask("POST", "/multipart", MULTIPART_BODY);
    },
  },
  {
    package: "@koa/multer",
    use: "`.layer(multer().single(name))`",
    async run(host, multer) {
      host.use(multer().single("f"));
      host.handle((ctx) => {
        ctx.body = { fields: ctx.request.body, file: ctx.file?.buffer.toString() };
      });
      await host.start();
      await host.ask("POST", "/", MULTIPART_BODY);
    },
  },
  ...["koa-session-6", "koa-session"].map((alias) => ({
    package: "koa-session",
    alias,
    use: "`.layer(session(options, builder.koa))`",
    run: session,
  })),
  {
    package: "koa-compress",
    use: "`.layer(compress())`",
    async run(host, compress) {
      host.use(compress());
      host.handle((ctx) => {
        if (ctx.path === "/stream") ctx.body = createReadStream(join(folder, "a.txt"));
        else ctx.body = ctx.path === "/short" ? "short" : "long ".repeat(1000);
      });
      await host.start();
      for (const coding of ["gzip", "br", "deflate", "identity"]) {
        await host.get("/", { headers: { "accept-encoding": coding }, as: `GET / ${coding}` });
      }
      for (const path of ["/short", "/stream"]) await host.get(path, { headers: { "accept-encoding": "gzip" } });
    },
  },
  {
    package: "@koa/cors",
    use: "`.layer(cors())`",
    async run(host, cors) {
      host.use(cors({ credentials: true, exposeHeaders: ["X-Own"] }));
      host.handle((ctx) => {
        if (ctx.path === "/fails") ctx.throw(403);
        ctx.body = "own";
      });
      await host.start();
      const headers = { origin: "https://app.example" };
      await host.get("/");
      await host.get("/", { headers, as: "GET / with an origin" });
      await host.get("/fails", { headers });
      await host.ask("OPTIONS", "/", { headers: { ...headers, "access-control-request-method": "PUT" } });
    },
  },
  {
    package: "koa-helmet",
    use: "`.layer(helmet())`",
    async run(host, helmet) {
      host.use(helmet());
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      await host.get("/");
    },
  },
  {
    package: "koa-static",
    use: "`.layer(serve(root))`",
    because: OWN_STATUS,
    async run(host, serve) {
      host.use(serve(folder));
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      for (const path of ["/", "/a.txt", "/none"]) await host.get(path);
      await host.ask("HEAD", "/a.txt");
      await host.get("/%2e%2e/secret");
    },
  },
  {
    package: "koa-send",
    use: "`await send(ctx, path)` in a handler",
    because: "It returns the path of the file, and a returned string is the response: `await` it, and do not return it",
    async run(host, send) {
      host.handle(async (ctx) => {
        const path = await send(ctx, ctx.path === "/returned" ? "/a.txt" : ctx.path, { root: folder });
        return ctx.path === "/returned" ? path.slice(folder.length) : undefined;
      });
      await host.start();
      await host.get("/a.txt");
      await host.get("/returned");
      await host.get("/none.txt");
    },
  },
  {
    package: "koa-mount",
    use: "`.layer(mount(path, koa))`",
    async run(host, mount) {
      const { default: Koa } = await import("koa");
      const mounted = new Koa().use((ctx) => {
        ctx.body = `mounted ${ctx.path} of ${ctx.originalUrl}`;
      });
      host.use(mount("/app", mounted));
      host.use(mount("/function", (ctx) => void (ctx.body = `function ${ctx.path} of ${ctx.mountPath}`)));
      host.handle((ctx) => {
        ctx.body = `own ${ctx.path}`;
      });
      await host.start();
      for (const path of ["/app/x?y=1", "/app", "/function/x", "/other"]) await host.get(path);
    },
  },
  {
    package: "koa-views",
    use: "`.layer(views(root))`, `ctx.render`",
    async run(host, views) {
      host.use(views(folder, { extension: "ejs" }));
      host.handle((ctx) => ctx.render("page", { name: "Ann" }));
      await host.start();
      await host.get("/");
    },
  },
  {
    package: "graphql-http",
    use: "`.layer(createHandler({ schema }))`",
    async run(host) {
      const { createHandler } = await import("graphql-http/lib/use/koa");
      const { buildSchema } = await import("graphql");
      const schema = buildSchema("type Query { hello(name: String): String }");
      const rootValue = { hello: ({ name }) => `hello ${name}` };
      const handle = createHandler({ schema, rootValue });
      host.use((ctx, next) => (ctx.path === "/graphql" ? handle(ctx, next) : next()));
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      const body = JSON.stringify({ query: '{ hello(name: "Ann") }' });
      await host.ask("POST", "/graphql", { ...JSON_BODY, body });
      await host.ask("POST", "/graphql", { ...JSON_BODY, body: "{", as: "POST /graphql malformed" });
      await host.get("/graphql?query=%7Bhello%7D");
      await host.get("/");
    },
  },
  {
    package: "koa-connect",
    use: "`.layer(connect(helmet()))`, and Express middleware that responds",
    async run(host, connect) {
      const { default: helmet } = await import("helmet");
      host.use(connect(helmet()));
      host.use(
        connect((request, response, next) => {
          if (request.url === "/fails") next(new Error("a fault"));
          else next();
        }),
      );
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      await host.get("/");
      await host.get("/fails");
    },
  },
  {
    package: "koa-proxies",
    use: "`.layer(proxy(path, { target }))`",
    async run(host, proxy) {
      const upstream = createServer((request, response) => {
        response.setHeader("X-Upstream", "yes");
        request.pipe(response.writeHead(203, { "content-type": "text/x-echo" }));
      });
      const target = await host.listening(upstream);
      host.use(proxy("/up", { target, changeOrigin: true, rewrite: (path) => path.replace("/up", "") }));
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      await host.ask("POST", "/up/x", { body: "echoed" });
      await host.get("/up/x");
      await host.get("/other");
    },
  },
  {
    package: "koa-range",
    use: "`.layer(range)`",
    async run(host, range) {
      host.use(range);
      host.handle((ctx) => {
        ctx.body = ctx.path === "/stream" ? createReadStream(join(folder, "a.txt")) : Buffer.from("0123456789");
      });
      await host.start();
      await host.get("/");
      for (const bytes of ["0-3", "4-"]) {
        await host.get("/", { headers: { range: `bytes=${bytes}` }, as: `GET / ${bytes}` });
      }
      await host.get("/stream", { headers: { range: "bytes=0-1" } });
    },
  },
  {
    package: "koa-favicon",
    use: "`.layer(favicon(path))`",
    async run(host, favicon) {
      host.use(favicon(join(folder, "a.txt")));
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) await host.ask(method, "/favicon.ico");
      await host.get("/");
    },
  },
  {
    package: "koa-json-error",
    use: "`.layer(error())`",
    async run(host, error) {
      host.use(error({ format: ({ status, message }) => ({ status, message }) }));
      host.use((ctx, next) => {
        if (ctx.path === "/teapot") ctx.throw(418, "a teapot");
        if (ctx.path === "/fails") throw new Error("a fault");
        return next();
      });
      await host.start();
      for (const path of ["/teapot", "/fails", "/none"]) await host.get(path);
    },
  },
  {
    package: "koa-logger",
    use: "`.layer(logger())`",
    async run(host, logger) {
      const lines = [];
      host.use(logger((_text, [, method, url, status, _time, length]) => lines.push([method, url, status, length])));
      host.use((ctx, next) => {
        if (ctx.path === "/teapot") ctx.throw(418, "a teapot");
        if (ctx.path !== "/") return next();
        ctx.body = "own";
        return undefined;
      });
      await host.start();
      for (const path of ["/", "/teapot"]) await host.get(path);
      host.note("lines", lines);
    },
  },
  {
    package: "koa-csrf",
    use: "`.layer(session, bodyParser, new CSRF())`",
    async run(host, CSRF) {
      const sessions = await import("koa-session");
      const { bodyParser: parse } = await import("@koa/bodyparser");
      host.koa.keys = ["a key of the programs"];
      host.use((sessions.createSession ?? sessions.default)({}, host.koa), parse(), new CSRF());
      let token = "";
      host.handle((ctx) => {
        token = ctx.state._csrf;
        ctx.body = "own";
      });
      await host.start();
      await host.get("/");
      await host.ask("POST", "/", { as: "POST / without a token" });
      await host.ask("POST", "/", { headers: { "x-csrf-token": token }, as: "POST / with a token" });
    },
  },
  {
    package: "koa-generic-session",
    use: "`.layer(session())`",
    async run(host, genericSession) {
      host.koa.keys = ["a key of the programs"];
      host.use(genericSession());
      host.handle((ctx) => {
        if (ctx.path === "/regenerate") return ctx.regenerateSession().then(() => void (ctx.body = "new"));
        ctx.session.views = (ctx.session.views ?? 0) + 1;
        ctx.body = { views: ctx.session.views };
        return undefined;
      });
      await host.start();
      for (const as of ["first", "second"]) await host.get("/", { as });
      await host.get("/regenerate");
      await host.get("/", { as: "third" });
    },
  },
  {
    package: "koa-sslify",
    use: "`.layer(sslify())`",
    async run(host, { default: sslify }) {
      host.use(sslify());
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      await host.get("/path?a=1", { headers: { host: "app.example" } });
      await host.ask("POST", "/path", { headers: { host: "app.example" } });
    },
  },
  {
    package: "koa-etag",
    use: "`.layer(conditional(), etag())`",
    async run(host, etag) {
      const { default: conditional } = await import("koa-conditional-get");
      host.use(conditional(), etag());
      host.handle((ctx) => {
        ctx.body = { is: "own" };
      });
      await host.start();
      const { headers } = await host.get("/");
      await host.get("/", { headers: { "if-none-match": headers.etag }, as: "GET / again" });
    },
  },
  {
    package: "koa-response-time",
    use: "`.layer(responseTime())`",
    async run(host, time) {
      host.use(time());
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      await host.get("/");
    },
  },
  {
    package: "koa-ratelimit",
    use: "`.layer(ratelimit(options))`",
    async run(host, ratelimit) {
      host.use(ratelimit({ driver: "memory", db: new Map(), max: 2, duration: 60_000, errorMessage: "slow down" }));
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      for (const as of ["first", "second", "third"]) await host.get("/", { as });
    },
  },
  {
    package: "koa-basic-auth",
    use: "`.layer(auth(credentials))`",
    async run(host, auth) {
      host.use(auth({ name: "ann", pass: "word" }));
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      await host.get("/");
      const authorization = `Basic ${Buffer.from("ann:word").toString("base64")}`;
      await host.get("/", { headers: { authorization }, as: "GET / with a password" });
    },
  },
  {
    package: "koa-jwt",
    use: "`.layer(jwt({ secret }))`",
    async run(host, jwt) {
      host.use(jwt({ secret: "a secret of the programs" }));
      host.handle((ctx) => {
        ctx.body = ctx.state.user;
      });
      await host.start();
      await host.get("/");
      const { default: jsonwebtoken } = await import("jsonwebtoken");
      const token = jsonwebtoken.sign({ sub: "ann" }, "a secret of the programs", { noTimestamp: true });
      await host.get("/", { headers: { authorization: `Bearer ${token}` }, as: "GET / with a token" });
    },
  },
];
