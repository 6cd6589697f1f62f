/** Hono on its own Node adapter. */
import { inertia, serializePage } from "@hono/inertia";
import { serve as serveHono } from "@hono/node-server";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import {
  areaResponse,
  areaPath,
  BODY_LIMIT,
  HELLO,
  LinkStore,
  PAGE_COMPONENT,
  PAGE_VERSION,
  pageDocument,
  pageProps,
} from "../../../../dist/spec/tools/bench/fixtures.js";
import { serve } from "./support/serve.mjs";

function application({ port, host }, declare) {
  const app = new Hono();
  declare(app);
  return new Promise((resolve) => serveHono({ fetch: app.fetch, port, hostname: host }, resolve));
}

const store = new LinkStore();

function links(app) {
  app.get("/links/:id", (c) => c.json(store.find(c.req.param("id"))));
}

/** `c.json` announces no length, and Hono's compression takes every response without one for a large one. */
function sizedJson(c, value) {
  const text = JSON.stringify(value);
  return c.body(text, 200, { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) });
}

/** Its document holds the tags of the manifest as text: the adapter reads no manifest. */
function pages(app) {
  app.use(inertia({ version: PAGE_VERSION, rootView: (page) => pageDocument(serializePage(page)) }));
  app.get("/links", (c) => c.render(PAGE_COMPONENT, { errors: {}, ...pageProps() }));
}

await serve({
  page: (on) => application(on, pages),
  document: (on) => application(on, pages),

  hello: (on) => application(on, (app) => app.get("/", (c) => c.text(HELLO))),

  param: (on) => application(on, links),

  routes: (on) =>
    application(on, (app) => {
      for (let area = 0; area < on.count; area += 1) {
        app.get(areaPath(area, ":id"), (c) => c.text(areaResponse(area, c.req.param("id"))));
      }
    }),

  echo: (on) =>
    application(on, (app) => {
      app.onError((error, c) => c.text("", error instanceof SyntaxError ? 400 : (error.status ?? 500)));
      app.post("/echo", bodyLimit({ maxSize: BODY_LIMIT }), async (c) => c.json(await c.req.json()));
    }),

  full: async (on) => {
    const { production } = await import("./support/hono-production.mjs");
    return application(on, (app) => {
      production(app);
      app.get("/links/:id", (c) => sizedJson(c, store.find(c.req.param("id"))));
    });
  },
});
