/**
 * Asks an application over its socket. Redirects are not followed and no cookie is kept, so that a test sees every answer as it was
 * given; `withCookies()` is the same client with a memory.
 *
 * @example
 * const response = await app.post("/links", { json: { target: "https://example.com/" } });
 * const browser = app.withCookies();
 */
import type { Clock } from "../runtime/clock.js";
import { CookieJar } from "./cookie-jar.js";
import type { RequestOptions, Transport } from "./transport.js";

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
