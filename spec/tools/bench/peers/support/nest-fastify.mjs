/** Starts a NestJS application on the Fastify adapter. */
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";

export async function fastifyApplication(on, module, options = {}, prepare = () => undefined) {
  const app = await NestFactory.create(module, new FastifyAdapter(options), { logger: false });
  await prepare(app);
  await app.listen(on.port, on.host);
  return app.getHttpServer().address();
}
