/**
 * The URL of a database server: `postgres://user:password@host:5432/database`. No error repeats any part of it, because with a password
 * that is not percent-encoded each part may have a piece of the password.
 */
import type { FrameworkError } from "../../errors/framework-error.js";
import { createSetupError } from "../../errors/setup-error.js";
import { DriverError } from "../driver-error.js";

export interface ServerUrl {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** A function, so that a printed driver does not show it. */
  readonly password: () => string | Promise<string>;
  /** `undefined` if the URL has no such parameter. */
  readonly tls: "off" | "verified" | "unverified" | undefined;
}

export interface UrlRules {
  /** In errors: `postgres`. */
  readonly name: string;
  /** With the colon. */
  readonly protocols: readonly string[];
  readonly port: number;
  /** The only parameter: it says whether TLS is used. */
  readonly tlsParameter: string;
}

/** `require` checks the certificate too: without the check any machine on the path can pose as the server. */
const TLS_MODES: Readonly<Record<string, NonNullable<ServerUrl["tls"]>>> = {
  disable: "off",
  disabled: "off",
  require: "verified",
  required: "verified",
  "verify-ca": "verified",
  verify_ca: "verified",
  "verify-full": "verified",
  verify_identity: "verified",
  "no-verify": "unverified",
};

/** @throws FrameworkError `E_DB_URL`, without any part of the URL */
export function parseServerUrl(text: string, rules: UrlRules): ServerUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !rules.protocols.includes(url.protocol))
    throw urlError(rules, `it starts with ${rules.protocols.map((each) => `${each}//`).join(" or ")}`);
  // A password with one of these characters ends the part before it.
  if (url.hash !== "" || /[@/]/.test(url.pathname.slice(1)) || url.search.includes("@"))
    throw urlError(rules, "percent-encode the characters / ? # @ % of user and password");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const database = decodePart(url.pathname.slice(1), rules);
  const user = decodePart(url.username, rules);
  for (const [part, value] of Object.entries({ host, user, database }))
    if (value === "") throw urlError(rules, `it names the ${part}: ${rules.protocols[0]}//user:password@host/database`);
  const port = url.port === "" ? rules.port : Number(url.port);
  const password = decodePart(url.password, rules);
  return { host, port, database, user, password: () => password, tls: readTlsMode(url, rules) };
}

/**
 * The password for one connection. An error of the function may quote the password, so it is not the cause.
 *
 * @throws DriverError
 */
export async function readPassword(server: ServerUrl): Promise<string> {
  const password: unknown = await Promise.resolve()
    .then(server.password)
    .catch(() => undefined);
  if (typeof password === "string") return password;
  const text = `cannot connect to ${formatAddress(server)}: the function in the option password failed, or returned no text`;
  throw new DriverError({ kind: "connection", code: "PASSWORD", text });
}

function readTlsMode(url: URL, rules: UrlRules): ServerUrl["tls"] {
  const names = [...url.searchParams.keys()];
  if (names.length === 0) return undefined;
  const mode = TLS_MODES[(url.searchParams.get(rules.tlsParameter) ?? "").toLowerCase()];
  if (names.length > 1 || mode === undefined)
    throw urlError(
      rules,
      `its only parameter is ${rules.tlsParameter}, with disable, require, verify-full or no-verify`,
    );
  return mode;
}

function decodePart(part: string, rules: UrlRules): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw urlError(rules, "a % in it stands before two hexadecimal digits");
  }
}

function urlError({ name }: UrlRules, rule: string): FrameworkError {
  return createSetupError("E_DB_URL", `the URL of ${name}() cannot be read: ${rule}`);
}

/** For errors and events: without user and password. */
export function formatAddress({ host, port, database }: ServerUrl): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
}
