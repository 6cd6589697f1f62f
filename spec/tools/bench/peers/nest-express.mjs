/** NestJS on its Express adapter, without the header that names Express and without ETags, which no other contender computes. */
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { BODY_LIMIT, SESSION_KEY } from "../../../../dist/spec/tools/bench/fixtures.js";
import { areasModule, echoModule, helloModule, linksModule, sessionModule } from "./support/nest-app.mjs";
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
  session: async (on) => {
    const { default: session } = await import("express-session");
    const options = { secret: SESSION_KEY, resave: false, saveUninitialized: false, cookie: { secure: false } };
    return application(on, sessionModule(), (app) => app.use(session(options)));
  },
  full: async (on) => {
    const { productionBelowNest } = await import("./support/express-production.mjs");
    const { nestProduction, productionModules } = await import("./support/nest-production.mjs");
    return application(on, linksModule(productionModules()), (app) => {
      nestProduction(app);
      for (const middleware of productionBelowNest()) app.use(middleware);
    });
  },
});
