/** The production set on Fastify beyond observability: its own plugins. */
import compress from "@fastify/compress";
import cors from "@fastify/cors";
import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import { BODY_LIMIT, ORIGIN, QUOTA, TIMEOUT_MS } from "../../../../../dist/spec/tools/bench/fixtures.js";
import { helmetOptions, helmetOptionsWithOwnNonces } from "./helmet-options.mjs";
import { problem } from "./observability.mjs";

export const LIMITS = { bodyLimit: BODY_LIMIT, handlerTimeout: TIMEOUT_MS };

/** Nonces by @fastify/helmet itself, unless they are minted by hand. */
export async function production(app, { ownNonces = true } = {}) {
  await plugins(app, ownNonces ? helmetOptionsWithOwnNonces : helmetOptions);
  app.setErrorHandler((error, _request, reply) => sendProblem(reply, error.statusCode ?? 500, error.message));
  app.setNotFoundHandler((_request, reply) => sendProblem(reply, 404, "Not Found"));
}

/** Also used below NestJS, which responds to errors and unknown paths itself. */
export async function plugins(app, security) {
  await app.register(compress, { global: true, threshold: 1024 });
  await app.register(helmet, security);
  await app.register(cors, { origin: [ORIGIN] });
  await app.register(rateLimit, { global: true, max: QUOTA, timeWindow: 60_000, enableDraftSpec: true });
}

function sendProblem(reply, status, title) {
  reply
    .code(status)
    .type("application/problem+json")
    .send(JSON.stringify(problem(status, title)));
}
