/** Koa with @koa/router, the usual pair. */
import { createServer } from "node:http";
import Router from "@koa/router";
import Koa from "koa";
import { areaResponse, areaPath, BODY_LIMIT, HELLO, LinkStore } from "../../../../dist/spec/tools/bench/fixtures.js";
import { listening, serve } from "./support/serve.mjs";

function application(on, declare, ...middleware) {
  const app = new Koa();
  const router = new Router();
  declare(router);
  for (const each of middleware) app.use(each);
  app.use(router.routes()).use(router.allowedMethods());
  return listening(createServer(app.callback()), on);
}

const store = new LinkStore();

function links(router) {
  router.get("/links/:id", (ctx) => {
    ctx.body = store.find(ctx.params.id);
  });
}

await serve({
  hello: (on) =>
    application(on, (router) =>
      router.get("/", (ctx) => {
        ctx.body = HELLO;
      }),
    ),

  param: (on) => application(on, links),

  routes: (on) =>
    application(on, (router) => {
      for (let area = 0; area < on.count; area += 1) {
        router.get(areaPath(area, ":id"), (ctx) => {
          ctx.body = areaResponse(area, ctx.params.id);
        });
      }
    }),

  echo: async (on) => {
    const { bodyParser } = await import("@koa/bodyparser");
    return application(
      on,
      (router) =>
        router.post("/echo", (ctx) => {
          ctx.body = ctx.request.body;
        }),
      bodyParser({ enableTypes: ["json"], jsonLimit: BODY_LIMIT }),
    );
  },

  full: async (on) => {
    const { production } = await import("./support/koa-production.mjs");
    return application(on, links, ...production());
  },
});
