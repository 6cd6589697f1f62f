/** NestJS on its Fastify adapter, with what Fastify can do by hand and by its own plugins in place of NestJS's modules. */
import { linksModule } from "./support/nest-app.mjs";
import { minted, OBSERVED_BY_HAND, observedByHand } from "./support/fastify-by-hand.mjs";
import { LIMITS, plugins } from "./support/fastify-production.mjs";
import { helmetOptions } from "./support/helmet-options.mjs";
import { fastifyApplication } from "./support/nest-fastify.mjs";
import { problems } from "./support/nest-problems.mjs";
import { serve } from "./support/serve.mjs";

await serve({
  full: (on) =>
    fastifyApplication(on, linksModule(), { ...OBSERVED_BY_HAND, ...LIMITS }, async (app) => {
      const fastify = app.getHttpAdapter().getInstance();
      observedByHand(fastify);
      minted(fastify);
      await plugins(fastify, helmetOptions);
      problems(app);
    }),
});
