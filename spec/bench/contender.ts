/** The programs that are compared, each a script that serves the scenario named by its first argument. */

import { join } from "node:path";
import { OURS, PEERS } from "./places.js";

export interface Contender {
  /** As in `--only` and in the tables. */
  readonly name: string;
  readonly script: string;
  /** Scenario to ask the script for, where it is not the one that is measured. */
  readonly variant?: string;
}

function peer(name: string): Contender {
  return { name, script: join(PEERS, `${name}.mjs`) };
}

/** The framework itself; `variant` names another application of the same script. */
export function ours(name = "stagecraft", variant?: string): Contender {
  return { name, script: join(OURS, "serve.js"), ...(variant !== undefined && { variant }) };
}

/** What every ratio is taken to: a server written by hand on node:http that does the same. */
export const BASELINE = peer("node");

export const FASTIFY = peer("fastify");

export const KOA = peer("koa");

/** Koa with the few lines that make 304s of its answers. */
export const KOA_CONDITIONAL: Contender = { ...KOA, name: "koa-conditional", variant: "static-conditional" };

export const EXPRESS = peer("express");

/** Fastify with the two lines a request that its own logger writes, where the others write one. */
export const FASTIFY_OWN_LOG: Contender = { ...FASTIFY, name: "fastify-own-log", variant: "observe-own-log" };

/** The same with the request at hand wherever something is logged (@fastify/request-context), as our spans have it. */
export const FASTIFY_CONTEXT: Contender = { ...FASTIFY, name: "fastify-context", variant: "observe-context" };

export const ALL_PEERS: readonly Contender[] = [
  BASELINE,
  FASTIFY,
  peer("hono"),
  KOA,
  peer("koa-router"),
  peer("nest-fastify"),
  peer("nest-express"),
  EXPRESS,
];
