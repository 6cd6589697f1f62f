/**
 * Which TCP port the application listens on (specification, section 8): the first of `FRAMEWORK_BACKEND_PORT`, `PORT` and `APP_PORT`
 * that is one, then `.port(n)`, then the configuration's, then 3000. The first variable is the dev supervisor's.
 *
 * @example
 * resolvePort({ PORT: "8080" }, { configured: 4000 }); // 8080
 */
import type { Finding } from "../errors/diagnostic.js";

export const DEFAULT_PORT = 3000;

const VARIABLES = ["FRAMEWORK_BACKEND_PORT", "PORT", "APP_PORT"] as const;

const MAX_PORT = 65_535;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface PortSettings {
  /** From `.port(n)`. */
  readonly asked?: number | undefined;
  /** From `.config(...)`. */
  readonly configured?: number | undefined;
}

export function resolvePort(environment: Environment, { asked, configured }: PortSettings = {}): number {
  for (const name of VARIABLES) {
    const port = parsePort(environment[name]);
    if (port !== undefined) return port;
  }
  return asked ?? configured ?? DEFAULT_PORT;
}

/** Digits only, 0 (any free port) to 65535; anything else, surrounding blanks included, is `undefined`. */
export function parsePort(text: string | undefined): number | undefined {
  if (text === undefined || !/^[0-9]+$/.test(text)) return undefined;
  const port = Number(text);
  return port <= MAX_PORT ? port : undefined;
}

/** Why a number given in code is no port, or `undefined` where it is one. */
export function checkPort(port: number, where: string): Finding | undefined {
  if (Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return undefined;
  return {
    code: "E_PORT",
    what: `${String(port)} is not a port`,
    where,
    cure: `give a whole number from 0 (any free port) to ${MAX_PORT}`,
  };
}
