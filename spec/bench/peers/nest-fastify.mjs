/** NestJS on its Fastify adapter. */
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import { BODY_LIMIT } from "../../../dist/spec/bench/fixtures.js";
import { areasModule, echoModule, helloModule, linksModule } from "./support/nest-app.mjs";
import { serve } from "./support/serve.mjs";

async function application(on, module, options = {}, prepare = () => undefined) {
  const app = await NestFactory.create(module, new FastifyAdapter(options), { logger: false });
  await prepare(app);
  await app.listen(on.port, on.host);
  return app.getHttpServer().address();
}

await serve({
  hello: (on) => application(on, helloModule()),
  param: (on) => application(on, linksModule()),
  routes: (on) => application(on, areasModule(on.count)),
  echo: (on) => application(on, echoModule(), { bodyLimit: BODY_LIMIT }),
  full: async (on) => {
    const { observed, production, PRODUCTION } = await import("./support/fastify-production.mjs");
    const { nestProduction } = await import("./support/nest-production.mjs");
    return application(on, linksModule(), PRODUCTION, async (app) => {
      const fastify = app.getHttpAdapter().getInstance();
      observed(fastify);
      await production(fastify, { notFound: false });
      nestProduction(app);
    });
  },
});
