/** Middleware for Koa, as layers. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const JSON_BODY = { headers: { "content-type": "application/json" }, body: '{"a":{"b":[1,2]}}' };
const FORM_BODY = { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "a=1&b=x%20y&a=2" };
const MULTIPART_BODY = {
  headers: { "content-type": "multipart/form-data; boundary=edge" },
  body: '--edge\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--edge\r\ncontent-disposition: form-data; name="f"; filename="f.txt"\r\ncontent-type: text/plain\r\n\r\nfile\r\n--edge--\r\n',
};

const FILES = {
  "a.txt": "text\n",
  "index.html": "<p>index</p>\n",
  "page.ejs": "<p><%= name %></p>\n",
  "error.ejs": "<p><%= status %></p>\n",
};
const folder = mkdtempSync(join(tmpdir(), "neighbours-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const [name, text] of Object.entries(FILES)) {
  writeFileSync(join(folder, name), text);
  utimesSync(join(folder, name), 0, 0);
}

async function parseBody(host) {
  host.handle((ctx) => {
    ctx.body = { parsed: ctx.request.body, raw: ctx.request.rawBody };
  });
  await host.start();
  await host.ask("POST", "/json", JSON_BODY);
  await host.ask("POST", "/form", FORM_BODY);
  await host.ask("POST", "/none");
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
    package: "koa-onerror",
    use: "`onerror(builder.koa)`",
    because:
      "A warning at the start says so: `.errorMapping(new ErrorMapping().using(mapper))` gives errors a form of the application's own",
    async run(host, module) {
      const onerror = module.onerror ?? module;
      onerror(host.koa, { json: (error, ctx) => (ctx.body = { shown: error.message }) });
      host.handle((ctx) => {
        if (ctx.path === "/teapot") ctx.throw(418, "a teapot");
        throw new Error("a fault");
      });
      await host.start();
      const headers = { accept: "application/json" };
      await host.get("/teapot", { headers });
      await host.get("/fails", { headers });
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
  {
    package: "koa-qs",
    use: "`qs(builder.koa)`",
    async run(host, qs) {
      qs(host.koa);
      host.handle((ctx) => {
        ctx.body = { query: ctx.query, same: ctx.request.query, text: ctx.querystring };
      });
      await host.start();
      await host.get("/?a[b]=1&a[c]=2&d[]=3");
    },
  },
  {
    package: "koa-body-parsers",
    use: "`parsers(builder.koa)`",
    async run(host, parsers) {
      parsers(host.koa);
      host.handle(async (ctx) => {
        ctx.body = { parsed: (await ctx.request.body()) ?? "none" };
      });
      await host.start();
      await host.ask("POST", "/json", JSON_BODY);
      await host.ask("POST", "/form", FORM_BODY);
      await host.ask("POST", "/bad", { ...JSON_BODY, body: "{" });
    },
  },
  { package: "koa-bodyparser", use: "`.layer(bodyParser())`", run: bodyParser },
  {
    package: "@koa/bodyparser",
    use: "`.layer(bodyParser())`",
    run: (host, module) => bodyParser(host, module.bodyParser ?? module),
  },
  {
    package: "koa-body",
    use: "`.layer(koaBody())`",
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
        ctx.body = ctx.path === "/short" ? "short" : "long ".repeat(1000);
      });
      await host.start();
      for (const coding of ["gzip", "br", "deflate", "identity"]) {
        await host.get("/", { headers: { "accept-encoding": coding }, as: `GET / ${coding}` });
      }
      await host.get("/short", { headers: { "accept-encoding": "gzip" } });
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
    because: "It returns the path of the file, and a returned string is the answer: `await` it, and do not return it",
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
