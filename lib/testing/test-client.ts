/**
 * Asks an application over its socket. Redirects are not followed and no cookie is kept, so that a test sees every answer as it was
 * given; `withCookies()` is the same client with a memory.
 *
 * @example
 * const response = await app.post("/links", { json: { target: "https://example.com/" } });
 * const browser = app.withCookies();
 */
import type { Clock } from "../runtime/clock.js";
import type { RequestOptions, Transport } from "./transport.js";

/**
 * The cookies of one client, kept as a browser keeps those of one site (RFC 6265 section 5): by name and path, gone when they expire by
 * the application's clock. The site counts as secure, as browsers do for `localhost`, so `Secure` cookies are sent back.
 */
interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly expiresAt: number;
}

export class CookieJar {
  private readonly cookies = new Map<string, Cookie>();

  constructor(private readonly clock: Clock) {}

  /** What goes out as `Cookie` to `path`; `undefined` where there is nothing to say. */
  header(path: string): string | undefined {
    const now = this.clock.now();
    const sent = [...this.cookies.values()].filter((each) => each.expiresAt > now && reaches(each.path, path));
    if (sent.length === 0) return undefined;
    return sent
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }

  /** Takes in one `Set-Cookie` of an answer to `path`. */
  take(line: string, path: string): void {
    const [pair = "", ...attributes] = line.split(";");
    const [name, value] = halves(pair);
    if (value === undefined || name === "") return;
    const cookie = { name, value, ...this.terms(attributes.map(halves), path) };
    const key = `${name};${cookie.path}`;
    if (cookie.expiresAt > this.clock.now()) this.cookies.set(key, cookie);
    else this.cookies.delete(key);
  }

  private terms(attributes: readonly Halves[], path: string): Pick<Cookie, "path" | "expiresAt"> {
    const found = new Map(attributes.map(([name, value = ""]) => [name.toLowerCase(), value]));
    const given = found.get("path") ?? "";
    return { path: given.startsWith("/") ? given : defaultPath(path), expiresAt: this.expiry(found) };
  }

  private expiry(attributes: ReadonlyMap<string, string>): number {
    const seconds = Number.parseInt(attributes.get("max-age") ?? "", 10);
    if (!Number.isNaN(seconds)) return seconds <= 0 ? 0 : this.clock.now() + seconds * 1000;
    const date = Date.parse(attributes.get("expires") ?? "");
    return Number.isNaN(date) ? Infinity : date;
  }
}

type Halves = readonly [name: string, value: string | undefined];

function halves(text: string): Halves {
  const equals = text.indexOf("=");
  return equals < 0 ? [text.trim(), undefined] : [text.slice(0, equals).trim(), text.slice(equals + 1).trim()];
}

function defaultPath(path: string): string {
  const end = pathOf(path).lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}

function reaches(cookiePath: string, path: string): boolean {
  const target = pathOf(path);
  if (!target.startsWith(cookiePath)) return false;
  return target.length === cookiePath.length || cookiePath.endsWith("/") || target[cookiePath.length] === "/";
}

function pathOf(target: string): string {
  return target.split(/[?#]/, 1)[0] ?? "";
}

export interface AnyRequestOptions extends RequestOptions {
  readonly method?: string;
}

export class TestClient {
  constructor(
    /** @internal */
    protected readonly transport: Transport,
    /** @internal */
    protected readonly clock: Clock,
    private readonly jar?: CookieJar,
  ) {}

  get(path: string, options?: RequestOptions): Promise<Response> {
    return this.request(path, { ...options, method: "GET" });
  }

  head(path: string, options?: RequestOptions): Promise<Response> {
    return this.request(path, { ...options, method: "HEAD" });
  }

  post(path: string, options?: RequestOptions): Promise<Response> {
    return this.request(path, { ...options, method: "POST" });
  }

  put(path: string, options?: RequestOptions): Promise<Response> {
    return this.request(path, { ...options, method: "PUT" });
  }

  patch(path: string, options?: RequestOptions): Promise<Response> {
    return this.request(path, { ...options, method: "PATCH" });
  }

  delete(path: string, options?: RequestOptions): Promise<Response> {
    return this.request(path, { ...options, method: "DELETE" });
  }

  options(path: string, options?: RequestOptions): Promise<Response> {
    return this.request(path, { ...options, method: "OPTIONS" });
  }

  /** Any method; GET unless given. Rejects where no answer comes. */
  async request(path: string, { method = "GET", ...options }: AnyRequestOptions = {}): Promise<Response> {
    const response = await this.transport.send(method, path, options, this.jar?.header(path));
    for (const line of response.headers.getSetCookie()) this.jar?.take(line, path);
    return response;
  }

  /** A client with a cookie jar of its own, empty at first. */
  withCookies(): TestClient {
    return new TestClient(this.transport, this.clock, new CookieJar(this.clock));
  }
}
