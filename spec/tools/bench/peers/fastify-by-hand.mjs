/** Fastify with hooks by hand in place of plugins for observability: the least that such a server can do. */
import { application, links } from "./support/fastify.mjs";
import { minted, OBSERVED_BY_HAND, observedByHand } from "./support/fastify-by-hand.mjs";
import { serve } from "./support/serve.mjs";

await serve({
  observe: (on) => application(on, links, OBSERVED_BY_HAND, observedByHand),

  full: async (on) => {
    const { LIMITS, production } = await import("./support/fastify-production.mjs");
    return application(on, links, { ...OBSERVED_BY_HAND, ...LIMITS }, async (app) => {
      observedByHand(app);
      minted(app);
      await production(app, { ownNonces: false });
    });
  },
});
