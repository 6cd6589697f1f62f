/** What all scripts on Fastify share: starting it, and the route of `param`, `observe` and `full`. */
import createFastify from "fastify";
import { LinkStore } from "../../../../../dist/spec/tools/bench/fixtures.js";

/** `prepare` registers plugins and hooks, in their order, before there are routes. */
export async function application(on, declare, options = {}, prepare = () => undefined) {
  const app = createFastify(options);
  await prepare(app);
  declare(app);
  await app.listen({ port: on.port, host: on.host });
  return app.server.address();
}

const store = new LinkStore();

export function links(app) {
  app.get("/links/:id", (request) => store.find(request.params.id));
}
