/**
 * The HTTP client of a test application. It follows no redirects and keeps no cookies, so a test sees each response as it was sent.
 * `withCookies()` returns a client with a cookie jar.
 *
 * @example
 * const response = await app.post("/links", { json: { target: "https://example.com/" } });
 * const browser = app.withCookies();
 */
import { isSafeMethod } from "../endpoints/method.js";
import { client, type Client } from "../client/client.js";
import type { Clock } from "../runtime/clock.js";
import { CookieJar } from "./cookie-jar.js";
import { copyHeaders, type RequestOptions, type Transport } from "./transport.js";

export interface AnyRequestOptions extends RequestOptions {
  readonly method?: string;
}

/**
 * The `Response` of `fetch`, whose JSON the test may type. The client does not check the type: `expectProblem` and the assertions of the
 * test do.
 */
export interface TestResponse extends Response {
  json<T = unknown>(): Promise<T>;
}
/** The names by which an application takes CSRF tokens. */
export interface CsrfNames {
  readonly cookie: string;
  readonly header: string;
}

export class TestClient {
  constructor(
    /** @internal */
    protected readonly transport: Transport,
    /** @internal */
    protected readonly clock: Clock,
    private readonly jar?: CookieJar,
    private readonly csrf?: CsrfNames,
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

  query(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "QUERY" });
  }

  options(path: string, options?: RequestOptions): Promise<TestResponse> {
    return this.request(path, { ...options, method: "OPTIONS" });
  }

  /** Sends any method; GET is the default. Of a whole URL, as in a mail, it sends path and query. Rejects if no response arrives. */
  async request(path: string, given: AnyRequestOptions = {}): Promise<TestResponse> {
    const { method = "GET", ...options } = given;
    const target = toTarget(path);
    if (this.csrf === undefined || isSafeMethod(method)) return this.send(method, target, options);
    return this.send(method, target, await this.withToken(options, target, this.csrf));
  }

  /**
   * The typed client of a table, as a front end calls it: with the cookies of this client, and with its CSRF token.
   *
   * @example
   * const ada = (await app.withSession({ account: "ada" })).client(links);
   * const link = await ada.show({ params: { id: 7 } });
   */
  client<T extends object>(table: T): Client<T> {
    return client(table, {
      origin: "",
      fetch: (path, { method, headers, body, signal }) =>
        this.request(path, { method, headers, ...(body !== undefined && { body }), ...(signal && { signal }) }),
    });
  }

  /** @internal */
  get hasCookies(): boolean {
    return this.jar !== undefined;
  }

  /** A client with a separate cookie jar, which is empty at first. */
  withCookies(): TestClient {
    return new TestClient(this.transport, this.clock, new CookieJar(this.clock));
  }

  private async send(method: string, path: string, options: RequestOptions): Promise<TestResponse> {
    const response = await this.transport.send(method, path, options, this.jar?.header(path));
    for (const line of response.headers.getSetCookie()) this.jar?.store(line, path);
    return response;
  }

  /** Adds the token of the cookie, as the script of a page does. A client without the cookie first requests it. */
  private async withToken(
    options: RequestOptions,
    path: string,
    { cookie, header }: CsrfNames,
  ): Promise<RequestOptions> {
    const headers = copyHeaders(options.headers);
    if (headers.has(header)) return options;
    if (this.jar?.value(cookie, path) === undefined) await (await this.send("GET", NO_PAGE, {})).arrayBuffer();
    headers.set(header, this.jar?.value(cookie, path) ?? "");
    return { ...options, headers };
  }
}

/** A link of a mail is a whole URL. Its origin is that of the configuration, and the test application has another port. */
function toTarget(path: string): string {
  if (!/^https?:\/\//.test(path)) return path;
  const { pathname, search } = new URL(path);
  return pathname + search;
}

/** No application has a route there. Every safe request gets the cookie, also a request that matches no route. */
const NO_PAGE = "/_framework/no-page";
