/** Packages that extend the Koa application itself. */
import { once } from "node:events";
import { FORM_BODY, folder, JSON_BODY } from "./given.mjs";

export const EXTENSIONS = [
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
  {
    package: "koa-ejs",
    use: "`render(builder.koa, options)`, `ctx.render`",
    async run(host, render) {
      render(host.koa, { root: folder, layout: false, viewExt: "ejs" });
      host.handle((ctx) => ctx.render("page", { name: "Ann" }));
      await host.start();
      await host.get("/");
    },
  },
  {
    package: "koa-websocket",
    use: "`websockify(builder.koa)`, `.attach((server) => builder.koa.ws.listen({ server }))`",
    async run(host, websockify) {
      const { default: WebSocket } = await import("ws");
      websockify(host.koa);
      host.koa.ws.use((ctx) => ctx.websocket.send(`${ctx.path} ${ctx.query.a} ${ctx.get("X-Asked")}`));
      host.attach((server) => host.koa.ws.listen({ server }));
      host.handle((ctx) => {
        ctx.body = "own";
      });
      await host.start();
      const client = new WebSocket(`${host.url.replace("http", "ws")}/socket?a=1`, { headers: { "X-Asked": "yes" } });
      const [message] = await once(client, "message");
      host.note("message", String(message));
      client.close();
      await host.get("/");
    },
  },
];
