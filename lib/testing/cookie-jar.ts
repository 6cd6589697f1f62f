/**
 * The cookies of one client, stored as a browser stores the cookies of one site (RFC 6265 section 5). The application's clock decides
 * when a cookie expires. The site counts as secure, as browsers treat `localhost`, so `Secure` cookies are sent.
 */
import type { Clock } from "../runtime/clock.js";

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

type Pair = readonly [name: string, value: string | undefined];

export class CookieJar {
  private readonly cookies = new Map<string, Cookie>();

  constructor(private readonly clock: Clock) {}

  /** The `Cookie` header for `path`; `undefined` if no cookie matches (RFC 6265 section 5.4). */
  header(path: string): string | undefined {
    const now = this.clock.now();
    const sent = [...this.cookies.values()].filter((each) => each.expiresAt > now && matchesPath(each.path, path));
    if (sent.length === 0) return undefined;
    return sent
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }

  /** The value of the cookie that is sent to `path`; `undefined` without one. */
  value(name: string, path: string): string | undefined {
    const now = this.clock.now();
    return [...this.cookies.values()].find(
      (each) => each.name === name && each.expiresAt > now && matchesPath(each.path, path),
    )?.value;
  }

  /** Stores the cookie of one `Set-Cookie` line in the response for `path` (RFC 6265 section 5.3). */
  store(line: string, path: string): void {
    const [pair = "", ...attributes] = line.split(";");
    const [name, value] = parsePair(pair);
    if (value === undefined || name === "") return;
    const cookie = { name, value, ...this.readScope(attributes.map(parsePair), path) };
    const key = `${name};${cookie.path}`;
    if (cookie.expiresAt > this.clock.now()) this.cookies.set(key, cookie);
    else this.cookies.delete(key);
  }

  private readScope(attributes: readonly Pair[], requestPath: string): Pick<Cookie, "path" | "expiresAt"> {
    const byName = new Map(attributes.map(([name, value = ""]) => [name.toLowerCase(), value]));
    const path = byName.get("path") ?? "";
    return { path: path.startsWith("/") ? path : getDefaultPath(requestPath), expiresAt: this.readExpiry(byName) };
  }

  /** `Max-Age` takes precedence over `Expires`; without both the cookie does not expire. */
  private readExpiry(attributes: ReadonlyMap<string, string>): number {
    const seconds = Number.parseInt(attributes.get("max-age") ?? "", 10);
    if (!Number.isNaN(seconds)) return seconds <= 0 ? 0 : this.clock.now() + seconds * 1000;
    const date = Date.parse(attributes.get("expires") ?? "");
    return Number.isNaN(date) ? Infinity : date;
  }
}

function parsePair(text: string): Pair {
  const equals = text.indexOf("=");
  return equals < 0 ? [text.trim(), undefined] : [text.slice(0, equals).trim(), text.slice(equals + 1).trim()];
}

/** RFC 6265 section 5.1.4. */
function getDefaultPath(target: string): string {
  const end = withoutQuery(target).lastIndexOf("/");
  return end <= 0 ? "/" : target.slice(0, end);
}

/** RFC 6265 section 5.1.4. */
function matchesPath(cookiePath: string, target: string): boolean {
  const path = withoutQuery(target);
  if (!path.startsWith(cookiePath)) return false;
  return path.length === cookiePath.length || cookiePath.endsWith("/") || path[cookiePath.length] === "/";
}

function withoutQuery(target: string): string {
  return target.split(/[?#]/, 1)[0] ?? "";
}
