/**
 * The configuration of an application: its name, its public URL, the name of its environment, and its port. `env` is only a name: the
 * protections of the framework depend on the build profile, never on `env`.
 *
 * @example
 * Application.create(Shop).config(AppConfig.fromEnv()); // APP_NAME, APP_URL, APP_ENV, APP_PORT
 * new AppConfig({ name: "shop", url: "https://shop.example/eu/" }).absoluteUrl("/links/7"); // https://shop.example/eu/links/7
 */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { valueText } from "../errors/value-text.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { publishRead } from "./variable-reads.js";

export const DEFAULT_PORT = 3000;

const MAX_PORT = 65_535;

/** In order of precedence. A development supervisor sets the first one. */
const PORT_VARIABLES = ["FRAMEWORK_BACKEND_PORT", "PORT", "APP_PORT"] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface AppConfigValues {
  /** By default `app`. */
  readonly name?: string | undefined;
  /** Absolute, http or https. By default `http://localhost` with the port that the application listens on. */
  readonly url?: string | undefined;
  /** By default `development`. */
  readonly env?: string | undefined;
  /** By default 3000. */
  readonly port?: number | undefined;
}

const NAMES: OptionNames<AppConfigValues> = { name: true, url: true, env: true, port: true };

export class AppConfig {
  readonly name: string;
  /** As given, with trailing slashes. Without a given one its port is 3000 until the application listens. */
  readonly url: string;
  readonly env: string;
  /** 0 to 65535; 0 is any free port. */
  readonly port: number;
  readonly #hasGivenUrl: boolean;

  constructor(values: AppConfigValues = {}) {
    // A subclass may pass further values.
    if (new.target === AppConfig) checkOptionNames(values, NAMES, "new AppConfig");
    const { name, url, env, port } = values;
    this.name = name ?? "app";
    this.#hasGivenUrl = url !== undefined;
    this.url = url ?? `http://localhost:${DEFAULT_PORT}`;
    this.env = env ?? "development";
    this.port = port ?? DEFAULT_PORT;
  }

  /**
   * Reads `APP_NAME`, `APP_URL`, `APP_ENV` and `APP_PORT`. A variable that is unset or blank gives the default, and so does a malformed
   * `APP_PORT`. `build()` refuses a malformed `APP_URL`.
   */
  static fromEnv(environment: Environment = process.env): AppConfig {
    publishReads(["APP_NAME", "APP_URL", "APP_ENV", "APP_PORT"]);
    return new AppConfig({
      name: readNonBlank(environment["APP_NAME"]),
      url: readNonBlank(environment["APP_URL"]),
      env: toCanonicalEnv(readNonBlank(environment["APP_ENV"])),
      port: parsePort(environment["APP_PORT"]),
    });
  }

  /** Joins `path` to `url` with exactly one slash between them. Unlike `new URL(path, url)` it never leads to another origin. */
  absoluteUrl(path: string): string {
    const base = this.url.slice(0, findEndBeforeSlashes(this.url));
    const rest = path.slice(findStartAfterSlashes(path));
    return rest === "" ? base : `${base}/${rest}`;
  }

  /** Takes the URL of the listener, unless a URL was given. A frozen configuration keeps its URL. @internal */
  followListener(url: string): void {
    if (!this.#hasGivenUrl) Reflect.set(this, "url", url);
  }

  /** The faults for which `build()` refuses the configuration. @internal */
  check(): readonly Diagnostic[] {
    const port = checkPort(this.port, "AppConfig.port");
    return [...(isBaseUrl(this.url) ? [] : [describeInvalidUrl(this.url)]), ...(port === undefined ? [] : [port])];
  }
}

export interface PortSettings {
  /** From `.port(n)`. */
  readonly asked?: number | undefined;
  /** From `.config(...)`. */
  readonly configured?: number | undefined;
}

/**
 * The TCP port to listen on: the first of `FRAMEWORK_BACKEND_PORT`, `PORT` and `APP_PORT` that is a port, then `.port(n)`, then that of
 * the configuration, then 3000. `listPortWarnings` names the variables that are skipped.
 *
 * @example
 * resolvePort({ PORT: "8080" }, { configured: 4000 }); // 8080
 */
export function resolvePort(environment: Environment, { asked, configured }: PortSettings = {}): number {
  publishReads(PORT_VARIABLES);
  for (const name of PORT_VARIABLES) {
    const port = parsePort(environment[name]);
    if (port !== undefined) return port;
  }
  return asked ?? configured ?? DEFAULT_PORT;
}

/** One warning for each variable that precedes the port of `resolvePort` and is not a port. */
export function listPortWarnings(environment: Environment): readonly Warning[] {
  const malformed: Warning[] = [];
  for (const variable of PORT_VARIABLES) {
    const text = readNonBlank(environment[variable]);
    if (parsePort(text) !== undefined) break;
    if (text === undefined) continue;
    const value = text.slice(0, MAX_SHOWN);
    malformed.push({
      message: "a variable is not a port, and has no effect",
      fields: { variable, value, fix: PORT_FIX },
    });
  }
  return malformed;
}

const MAX_SHOWN = 40;
const PORT_FIX = `write a whole number from 0 (any free port) to ${MAX_PORT}, without spaces`;

/** 0 to 65535, written in digits only. Any other text, also one with spaces around the digits, gives `undefined`. */
export function parsePort(text: string | undefined): number | undefined {
  if (text === undefined || !/^[0-9]+$/.test(text)) return undefined;
  const port = Number(text);
  return port <= MAX_PORT ? port : undefined;
}

/** `undefined` if the number is a port. */
export function checkPort(port: number, where: string): Diagnostic | undefined {
  if (Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return undefined;
  return {
    code: "E_PORT",
    what: `${valueText(port)} is not a port`,
    where,
    fix: `give a whole number from 0 (any free port) to ${MAX_PORT}`,
  };
}

function publishReads(names: readonly string[]): void {
  for (const name of names) publishRead({ name, isSecret: false, hasDefault: true });
}

function readNonBlank(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value;
}

function toCanonicalEnv(value: string | undefined): string | undefined {
  const env = value?.toLowerCase();
  return env === "prod" ? "production" : env;
}

function findEndBeforeSlashes(text: string): number {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return end;
}

function findStartAfterSlashes(text: string): number {
  let start = 0;
  while (text[start] === "/") start += 1;
  return start;
}

/** A path cannot be joined to a URL with a query or fragment. Credentials would appear in the start-up message. */
function isBaseUrl(text: string): boolean {
  if (!/^https?:\/\/[^/]/i.test(text) || /[\s\\?#\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

function describeInvalidUrl(url: string): Diagnostic {
  // The part before an @ may hold a password.
  const text = JSON.stringify(url.slice(url.lastIndexOf("@") + 1));
  return {
    code: "E_APP_URL",
    what: `${text} is not a URL that paths can be joined to`,
    where: "AppConfig.url (APP_URL)",
    fix: "write an absolute http or https URL without credentials, query or fragment, for example https://shop.example",
  };
}
