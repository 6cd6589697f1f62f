/**
 * What the application is called and where the world finds it. `env` can be read and decides nothing: protections key off the build
 * profile (specification 2.10).
 *
 * @example
 * Application.create(Shop).config(AppConfig.fromEnv()); // APP_NAME, APP_URL, APP_ENV, APP_PORT
 * new AppConfig({ name: "shop", url: "https://shop.example/eu/" }).absoluteUrl("/links/7"); // https://shop.example/eu/links/7
 */
import type { Diagnostic } from "../errors/diagnostic.js";

/**
 * Which TCP port the application listens on (specification, section 8): the first of `FRAMEWORK_BACKEND_PORT`, `PORT` and `APP_PORT`
 * that is one, then `.port(n)`, then the configuration's, then 3000. The first variable is the dev supervisor's.
 *
 * @example
 * resolvePort({ PORT: "8080" }, { configured: 4000 }); // 8080
 */
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
export function checkPort(port: number, where: string): Diagnostic | undefined {
  if (Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return undefined;
  return {
    code: "E_PORT",
    what: `${String(port)} is not a port`,
    where,
    fix: `give a whole number from 0 (any free port) to ${MAX_PORT}`,
  };
}

export interface AppConfigValues {
  readonly name?: string | undefined;
  /** Absolute, http or https. */
  readonly url?: string | undefined;
  readonly env?: string | undefined;
  readonly port?: number | undefined;
}

export class AppConfig {
  readonly name: string;
  /** As it was written, trailing slashes included. */
  readonly url: string;
  readonly env: string;
  /** 0 to 65535; 0 asks for any free port. */
  readonly port: number;

  constructor({ name, url, env, port }: AppConfigValues = {}) {
    this.name = name ?? "app";
    this.url = url ?? "http://localhost:3000";
    this.env = env ?? "development";
    this.port = port ?? DEFAULT_PORT;
  }

  /** Variables that are unset or blank, and a malformed `APP_PORT`, leave the defaults; a wrong `APP_URL` is found by `build()`. */
  static fromEnv(environment: Environment = process.env): AppConfig {
    return new AppConfig({
      name: given(environment["APP_NAME"]),
      url: given(environment["APP_URL"]),
      env: canonicalEnv(given(environment["APP_ENV"])),
      port: parsePort(environment["APP_PORT"]),
    });
  }

  /** `path` below `url`, with exactly one slash between. It is joined, never substituted: no path leads to another origin. */
  absoluteUrl(path: string): string {
    const base = this.url.slice(0, endBeforeSlashes(this.url));
    const rest = path.slice(startAfterSlashes(path));
    return rest === "" ? base : `${base}/${rest}`;
  }

  /** @internal What `build()` refuses. */
  check(): readonly Diagnostic[] {
    const port = checkPort(this.port, "AppConfig.port");
    return [...(isBaseUrl(this.url) ? [] : [badUrl(this.url)]), ...(port === undefined ? [] : [port])];
  }
}

function given(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value;
}

function canonicalEnv(value: string | undefined): string | undefined {
  const env = value?.toLowerCase();
  return env === "prod" ? "production" : env;
}

function endBeforeSlashes(text: string): number {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return end;
}

function startAfterSlashes(text: string): number {
  let start = 0;
  while (text[start] === "/") start += 1;
  return start;
}

/** Also no query, fragment or credentials: a path could not be joined, or the start-up line would print a secret. */
function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\/[^/]/i.test(text) || /[\s\\?#\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

function badUrl(url: string): Diagnostic {
  // What stands before an @ may be a password.
  const shown = JSON.stringify(url.slice(url.lastIndexOf("@") + 1));
  return {
    code: "E_APP_URL",
    what: `${shown} is not a URL that paths can be joined to`,
    where: "AppConfig.url (APP_URL)",
    fix: "write an absolute http or https URL without credentials, query or fragment, for example https://shop.example",
  };
}
