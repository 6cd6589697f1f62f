/** The programs that are compared, each a script that serves the scenario named by its first argument. */

import { join, resolve } from "node:path";
import { OURS, PEERS } from "./places.js";

export interface Contender {
  /** The name in `--only` and in the tables. */
  readonly name: string;
  readonly script: string;
  /** The scenario argument of the script, where it differs from the measured one. */
  readonly variant?: string;
  /** Whether it runs on all processors, the one of the load too; unless set, on one. */
  readonly everywhere?: boolean;
}

function peer(name: string): Contender {
  return { name, script: join(PEERS, `${name}.mjs`) };
}

/** The framework itself; `variant` names another application of the same script. */
export function ours(name = "stagecraft", variant?: string): Contender {
  return { name, script: join(OURS, "serve.js"), ...(variant !== undefined && { variant }) };
}

/** The framework in the build of another checkout. */
export function before(folder: string): Contender {
  return { name: "before", script: join(resolve(folder), "dist/spec/tools/bench/stagecraft/serve.js") };
}

/** The base of every ratio: a hand-written server on node:http that does the same. */
export const BASELINE = peer("node");

export const FASTIFY = peer("fastify");

export const KOA = peer("koa");

/** Koa with a few lines for 304. */
export const KOA_CONDITIONAL: Contender = { ...KOA, name: "koa-conditional", variant: "static-conditional" };

export const EXPRESS = peer("express");

/** Hooks by hand in place of observability plugins: one line for each request where Fastify's log writes two, without an async context. */
export const FASTIFY_BY_HAND = peer("fastify-by-hand");

/** With the trace context of Fastify's plugin for OpenTelemetry, in its default: a span for the request, each hook and the handler. */
export const FASTIFY_OTEL = peer("fastify-otel");

/** The same, configured for the span of the request only. */
export const FASTIFY_OTEL_ONE_SPAN: Contender = {
  ...FASTIFY_OTEL,
  name: "fastify-otel-one-span",
  variant: "observe-one-span",
};

export const NEST_EXPRESS = peer("nest-express");

export const NEST_FASTIFY = peer("nest-fastify");

/** Fastify's plugins and hooks by hand in place of NestJS's modules. */
export const NEST_FASTIFY_BY_HAND = peer("nest-fastify-by-hand");

const HONO = peer("hono");

/** With their own adapters for Inertia. */
export const INERTIA_ADAPTERS: readonly Contender[] = [HONO, peer("adonis")];

export const ALL_PEERS: readonly Contender[] = [
  BASELINE,
  FASTIFY,
  HONO,
  KOA,
  peer("koa-router"),
  NEST_FASTIFY,
  NEST_EXPRESS,
  EXPRESS,
];
