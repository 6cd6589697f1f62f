/**
 * The HTTP client of a test application. It follows no redirects and keeps no cookies, so a test sees each response as it was sent.
 * `withCookies()` returns a client with a cookie jar.
 *
 * @example
 * const response = await app.post("/links", { json: { target: "https://example.com/" } });
 * const browser = app.withCookies();
 */
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import type { Clock } from "../runtime/clock.js";
import type { RequestOptions, Transport } from "./transport.js";

export interface AnyRequestOptions extends RequestOptions {
  readonly method?: string;
}

/** The `Response` of `fetch`, whose JSON the test may type. Nothing checks the type: `expectProblem` and your own assertions do. */
export interface TestResponse extends Response {
  json<T = unknown>(): Promise<T>;
}
const NAMES: OptionNames<AnyRequestOptions> = {
  method: true,
  headers: true,
  signal: true,
  json: true,
  form: true,
  body: true,
};

export class TestClient {
  constructor(
    /** @internal */
    protected readonly transport: Transport,
    /** @internal */
    protected readonly clock: Clock,
    private readonly jar?: CookieJar,
  ) {}

  get(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "GET" });
  }

  head(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "HEAD" });
  }

  post(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "POST" });
  }

  put(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "PUT" });
  }

  patch(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "PATCH" });
  }

  delete(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "DELETE" });
  }

  options(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "OPTIONS" });
  }

  /** Sends any method; GET is the default. Rejects if no response arrives. */
  async request(path: string, given: AnyRequestOptions = {}): Promise<TestResponse> {
    checkOptionNames(given, NAMES, `the request of ${path}`);
    const { method = "GET", ...options } = given;
    const response = await this.transport.send(method, path, options, this.jar?.header(path));
    for (const line of response.headers.getSetCookie()) this.jar?.store(line, path);
    return response;
  }

  /** A client with its own cookie jar, which is empty at first. */
  withCookies(): TestClient {
    return new TestClient(this.transport, this.clock, new CookieJar(this.clock));
  }
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

type Pair = readonly [name: string, value: string | undefined];

/**
 * The cookies of one client, stored as a browser stores the cookies of one site (RFC 6265 section 5). The application's clock decides
 * when a cookie expires. The site counts as secure, as browsers treat `localhost`, so `Secure` cookies are sent.
 */
class CookieJar {
  private readonly cookies = new Map<string, Cookie>();

  constructor(private readonly clock: Clock) {}

  /** The `Cookie` header for `path`; `undefined` if no cookie matches (RFC 6265 section 5.4). */
  header(path: string): string | undefined {
    const now = this.clock.now();
    const sent = [...this.cookies.values()].filter((each) => each.expiresAt > now && pathMatches(each.path, path));
    if (sent.length === 0) return undefined;
    return sent
      .toSorted((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`)
      .join("; ");
  }

  /** Stores the cookie of one `Set-Cookie` line in the response for `path` (RFC 6265 section 5.3). */
  store(line: string, path: string): void {
    const [pair = "", ...attributes] = line.split(";");
    const [name, value] = pairOf(pair);
    if (value === undefined || name === "") return;
    const cookie = { name, value, ...this.scopeOf(attributes.map(pairOf), path) };
    const key = `${name};${cookie.path}`;
    if (cookie.expiresAt > this.clock.now()) this.cookies.set(key, cookie);
    else this.cookies.delete(key);
  }

  private scopeOf(attributes: readonly Pair[], requestPath: string): Pick<Cookie, "path" | "expiresAt"> {
    const byName = new Map(attributes.map(([name, value = ""]) => [name.toLowerCase(), value]));
    const path = byName.get("path") ?? "";
    return { path: path.startsWith("/") ? path : defaultPath(requestPath), expiresAt: this.expiryOf(byName) };
  }

  /** `Max-Age` takes precedence over `Expires`; without both the cookie does not expire. */
  private expiryOf(attributes: ReadonlyMap<string, string>): number {
    const seconds = Number.parseInt(attributes.get("max-age") ?? "", 10);
    if (!Number.isNaN(seconds)) return seconds <= 0 ? 0 : this.clock.now() + seconds * 1000;
    const date = Date.parse(attributes.get("expires") ?? "");
    return Number.isNaN(date) ? Infinity : date;
  }
}

function pairOf(text: string): Pair {
  const equals = text.indexOf("=");
  return equals < 0 ? [text.trim(), undefined] : [text.slice(0, equals).trim(), text.slice(equals + 1).trim()];
}

/** RFC 6265 section 5.1.4. */
function defaultPath(target: string): string {
  const end = withoutQuery(target).lastIndexOf("/");
  return end <= 0 ? "/" : target.slice(0, end);
}

/** RFC 6265 section 5.1.4. */
function pathMatches(cookiePath: string, target: string): boolean {
  const path = withoutQuery(target);
  if (!path.startsWith(cookiePath)) return false;
  return path.length === cookiePath.length || cookiePath.endsWith("/") || path[cookiePath.length] === "/";
}

function withoutQuery(target: string): string {
  return target.split(/[?#]/, 1)[0] ?? "";
}
