/** Fastify; no logger but where the scenario asks for lines. */
import createFastify from "fastify";
import { areaAnswer, areaPath, BODY_LIMIT, HELLO, LinkStore } from "../../../dist/spec/bench/fixtures.js";
import { serve } from "./support/serve.mjs";

async function application(on, declare, options = {}, ...plugins) {
  const app = createFastify(options);
  for (const plugin of plugins) await plugin(app);
  declare(app);
  await app.listen({ port: on.port, host: on.host });
  return app.server.address();
}

const store = new LinkStore();

function links(app) {
  app.get("/links/:id", (request) => store.find(request.params.id));
}

await serve({
  hello: (on) => application(on, (app) => app.get("/", () => HELLO)),

  param: (on) => application(on, links),

  routes: (on) =>
    application(on, (app) => {
      for (let area = 0; area < on.count; area += 1) {
        app.get(areaPath(area, ":id"), (request) => areaAnswer(area, request.params.id));
      }
    }),

  echo: (on) => application(on, (app) => app.post("/echo", (request) => request.body), { bodyLimit: BODY_LIMIT }),

  observe: async (on) => {
    const { observed, OBSERVED } = await import("./support/fastify-production.mjs");
    return application(on, links, OBSERVED, observed);
  },

  "observe-own-log": async (on) => {
    const { observed, OWN_LOG } = await import("./support/fastify-production.mjs");
    return application(on, links, OWN_LOG, (app) => observed(app, { line: false }));
  },

  "observe-context": async (on) => {
    const { context, observed, OWN_LOG } = await import("./support/fastify-production.mjs");
    return application(on, links, OWN_LOG, context, (app) => observed(app, { line: false }));
  },

  static: async (on) => {
    const { default: staticFiles } = await import("@fastify/static");
    return application(on, (app) => app.register(staticFiles, { root: process.env.BENCH_FILES }));
  },

  full: async (on) => {
    const { observed, production, PRODUCTION } = await import("./support/fastify-production.mjs");
    return application(on, links, PRODUCTION, observed, production);
  },
});
