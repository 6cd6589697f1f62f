/** NestJS on its Fastify adapter. */
import { BODY_LIMIT } from "../../../../dist/spec/tools/bench/fixtures.js";
import { areasModule, echoModule, helloModule, linksModule } from "./support/nest-app.mjs";
import { fastifyApplication } from "./support/nest-fastify.mjs";
import { serve } from "./support/serve.mjs";

await serve({
  hello: (on) => fastifyApplication(on, helloModule()),
  param: (on) => fastifyApplication(on, linksModule()),
  routes: (on) => fastifyApplication(on, areasModule(on.count)),
  echo: (on) => fastifyApplication(on, echoModule(), { bodyLimit: BODY_LIMIT }),
  "echo-schema": async (on) => {
    const { checkedEchoModule } = await import("./support/nest-echo-schema.mjs");
    return fastifyApplication(on, checkedEchoModule(), { bodyLimit: BODY_LIMIT });
  },
  full: async (on) => {
    const { default: compress } = await import("@fastify/compress");
    const { default: helmet } = await import("@fastify/helmet");
    const { echoed, genReqId } = await import("./support/fastify-hooks.mjs");
    const { requestMetrics } = await import("./support/fastify-observed.mjs");
    const { LIMITS } = await import("./support/fastify-production.mjs");
    const { helmetOptionsWithOwnNonces } = await import("./support/helmet-options.mjs");
    const { nestProduction, productionModules } = await import("./support/nest-production.mjs");
    return fastifyApplication(on, linksModule(productionModules()), { genReqId, ...LIMITS }, async (app) => {
      echoed(app.getHttpAdapter().getInstance());
      await requestMetrics(app);
      await app.register(compress, { global: true, threshold: 1024 });
      await app.register(helmet, helmetOptionsWithOwnNonces);
      nestProduction(app);
    });
  },
});
