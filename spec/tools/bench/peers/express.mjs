/** Express 5, without the header that names it and without ETags, which no other contender computes. */
import { createServer } from "node:http";
import express from "express";
import { areaResponse, areaPath, BODY_LIMIT, HELLO, LinkStore } from "../../../../dist/spec/tools/bench/fixtures.js";
import { listening, serve } from "./support/serve.mjs";

function application(on, declare) {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  declare(app);
  return listening(createServer(app), on);
}

const store = new LinkStore();

function links(app) {
  app.get("/links/:id", (request, response) => response.json(store.find(request.params.id)));
}

await serve({
  hello: (on) => application(on, (app) => app.get("/", (_request, response) => response.type("text").send(HELLO))),

  param: (on) => application(on, links),

  routes: (on) =>
    application(on, (app) => {
      for (let area = 0; area < on.count; area += 1) {
        app.get(areaPath(area, ":id"), ({ params }, response) =>
          response.type("text").send(areaResponse(area, params.id)),
        );
      }
    }),

  echo: (on) =>
    application(on, (app) => {
      app.use(express.json({ limit: BODY_LIMIT }));
      app.post("/echo", (request, response) => response.json(request.body));
    }),

  static: (on) => application(on, (app) => app.use(express.static(process.env.BENCH_FILES))),

  full: async (on) => {
    const { mapErrors, notFound, production } = await import("./support/express-production.mjs");
    return application(on, (app) => {
      for (const middleware of production()) app.use(middleware);
      links(app);
      app.use(notFound);
      app.use(mapErrors);
    });
  },
});
