/** Fastify; no logger but where the scenario asks for lines, then its own. */
import {
  areaResponse,
  areaPath,
  BODY_LIMIT,
  HELLO,
  NO_NAME,
  SESSION_KEY,
} from "../../../../dist/spec/tools/bench/fixtures.js";
import { application, links } from "./support/fastify.mjs";
import { serve } from "./support/serve.mjs";

/** Ajv removes members that are not declared, as zod does. */
const LINK = {
  type: "object",
  additionalProperties: false,
  required: ["id", "title", "public", "expires", "tags", "owner", "note"],
  properties: {
    id: { type: "integer", minimum: 1 },
    title: { type: "string", minLength: 1, maxLength: 200 },
    public: { type: "boolean" },
    expires: { type: ["string", "null"] },
    tags: { type: "array", items: { type: "string" } },
    owner: {
      type: "object",
      additionalProperties: false,
      required: ["name", "email", "scores"],
      properties: {
        name: { type: "string", minLength: 1 },
        email: { type: "string", format: "email" },
        scores: { type: "array", items: { type: "number" } },
      },
    },
    note: { type: "string" },
  },
};

await serve({
  hello: (on) => application(on, (app) => app.get("/", () => HELLO)),

  param: (on) => application(on, links),

  routes: (on) =>
    application(on, (app) => {
      for (let area = 0; area < on.count; area += 1) {
        app.get(areaPath(area, ":id"), (request) => areaResponse(area, request.params.id));
      }
    }),

  echo: (on) => application(on, (app) => app.post("/echo", (request) => request.body), { bodyLimit: BODY_LIMIT }),

  "echo-schema": (on) =>
    application(on, (app) => app.post("/echo", { schema: { body: LINK } }, (request) => request.body), {
      bodyLimit: BODY_LIMIT,
    }),

  observe: async (on) => {
    const { observed, OBSERVED } = await import("./support/fastify-observed.mjs");
    return application(on, links, OBSERVED, observed);
  },

  session: async (on) => {
    const { default: cookie } = await import("@fastify/cookie");
    const { default: session } = await import("@fastify/session");
    // Without a new cookie on each response, as all other contenders.
    const options = { secret: SESSION_KEY, cookie: { secure: false }, saveUninitialized: false, rolling: false };
    return application(
      on,
      (app) => {
        app.get("/", (request) => request.session.get("name") ?? NO_NAME);
        app.get("/begin", (request) => {
          request.session.set("name", HELLO);
          return "";
        });
      },
      {},
      async (app) => {
        await app.register(cookie);
        await app.register(session, options);
      },
    );
  },

  static: async (on) => {
    const { default: staticFiles } = await import("@fastify/static");
    return application(on, (app) => app.register(staticFiles, { root: process.env.BENCH_FILES }));
  },

  full: async (on) => {
    const { observed, OBSERVED } = await import("./support/fastify-observed.mjs");
    const { LIMITS, production } = await import("./support/fastify-production.mjs");
    return application(on, links, { ...OBSERVED, ...LIMITS }, async (app) => {
      await observed(app);
      await production(app);
    });
  },
});
