/** NestJS on its Express adapter, without the header that names Express and without ETags, which no other contender computes. */
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { BODY_LIMIT } from "../../../dist/spec/bench/fixtures.js";
import { areasModule, echoModule, helloModule, linksModule } from "./support/nest-app.mjs";
import { serve } from "./support/serve.mjs";

async function application(on, module, prepare = () => undefined) {
  const app = await NestFactory.create(module, new ExpressAdapter(), { logger: false });
  app.disable("x-powered-by");
  app.disable("etag");
  await prepare(app);
  await app.listen(on.port, on.host);
  return app.getHttpServer().address();
}

await serve({
  hello: (on) => application(on, helloModule()),
  param: (on) => application(on, linksModule()),
  routes: (on) => application(on, areasModule(on.count)),
  echo: (on) => application(on, echoModule(), (app) => app.useBodyParser("json", { limit: BODY_LIMIT })),
  full: async (on) => {
    const { production } = await import("./support/express-production.mjs");
    const { nestProduction } = await import("./support/nest-production.mjs");
    return application(on, linksModule(), (app) => {
      for (const middleware of production()) app.use(middleware);
      nestProduction(app);
    });
  },
});
