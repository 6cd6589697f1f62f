/** Koa without a router: paths are distinguished by hand. */
import { createServer } from "node:http";
import Koa from "koa";
import {
  areaResponse,
  BODY_LIMIT,
  HELLO,
  LinkStore,
  NO_NAME,
  SESSION_KEY,
} from "../../../../dist/spec/tools/bench/fixtures.js";
import { listening, serve } from "./support/serve.mjs";

function application(on, ...middleware) {
  const app = new Koa();
  for (const each of middleware) app.use(each);
  return listening(createServer(app.callback()), on);
}

const store = new LinkStore();

function showLink(ctx) {
  if (ctx.method !== "GET" || !ctx.path.startsWith("/links/")) return;
  ctx.body = store.find(decodeURIComponent(ctx.path.slice("/links/".length)));
}

/** All of koa-conditional-get. */
async function unlessModified(ctx, next) {
  await next();
  if (ctx.fresh) {
    ctx.status = 304;
    ctx.body = null;
  }
}

await serve({
  hello: (on) =>
    application(on, (ctx) => {
      if (ctx.method === "GET" && ctx.path === "/") ctx.body = HELLO;
    }),

  param: (on) => application(on, showLink),

  routes: (on) => {
    const areas = new Map(
      Array.from({ length: on.count }, (_, area) => [`area-${area}`, (id) => areaResponse(area, id)]),
    );
    return application(on, (ctx) => {
      const [, area, items, id, ...rest] = ctx.path.split("/");
      if (items === "items" && rest.length === 0) ctx.body = areas.get(area)?.(decodeURIComponent(id));
    });
  },

  echo: async (on) => {
    const { bodyParser } = await import("@koa/bodyparser");
    return application(on, bodyParser({ enableTypes: ["json"], jsonLimit: BODY_LIMIT }), (ctx) => {
      if (ctx.method === "POST" && ctx.path === "/echo") ctx.body = ctx.request.body;
    });
  },

  session: async (on) => {
    const { createSession } = await import("koa-session");
    const values = new Map();
    // In memory, as all other contenders; by default the values are in the cookie.
    const store = {
      get: (id) => values.get(id),
      set: (id, value) => void values.set(id, value),
      destroy: (id) => void values.delete(id),
    };
    const app = new Koa();
    app.keys = [SESSION_KEY];
    app.use(createSession({ store, signed: true }, app));
    app.use((ctx) => {
      if (ctx.path === "/") ctx.body = ctx.session.name ?? NO_NAME;
      else if (ctx.path === "/begin") {
        ctx.session.name = HELLO;
        ctx.body = "";
      }
    });
    return listening(createServer(app.callback()), on);
  },

  static: async (on) => {
    const { default: staticFiles } = await import("koa-static");
    return application(on, staticFiles(process.env.BENCH_FILES));
  },

  "static-conditional": async (on) => {
    const { default: staticFiles } = await import("koa-static");
    return application(on, unlessModified, staticFiles(process.env.BENCH_FILES));
  },

  full: async (on) => {
    const { production } = await import("./support/koa-production.mjs");
    return application(on, ...production(), showLink);
  },
});
