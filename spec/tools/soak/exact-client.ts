/**
 * A client that checks every response: it sends one request after the other, reads each response and compares it with the expected one. The id
 * of a request holds the numbers of client and request, so that the log reader finds its line.
 */
import { once } from "node:events";
import http from "node:http";

/** The canary in queries, cookies, credentials and bodies; no line may hold it. */
export const CANARY = "canary4711";

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const JSON_BODY = { "content-type": "application/json", authorization: "Bearer of-a-program" };

interface Step {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string;
}

/** One round of requests, with a link of its own. */
function stepsOf(slug: string): readonly Step[] {
  const link = JSON.stringify({ target: `https://example.com/?token=${CANARY}`, slug });
  return [
    { method: "GET", path: `/about?token=${CANARY}`, status: 200 },
    { method: "POST", path: "/api/links", status: 201, headers: JSON_BODY, body: link },
    {
      method: "GET",
      path: `/api/links/${slug}`,
      status: 200,
      headers: { traceparent: TRACEPARENT, tracestate: "a=1" },
    },
    { method: "GET", path: `/to/${slug}`, status: 302, headers: { cookie: `id=${CANARY}` } },
    { method: "POST", path: "/api/links", status: 409, headers: JSON_BODY, body: link },
    { method: "POST", path: "/api/links", status: 400, headers: JSON_BODY, body: '{"target":' },
    {
      method: "POST",
      path: "/api/links",
      status: 415,
      headers: { ...JSON_BODY, "content-type": "text/csv" },
      body: "a,b",
    },
    { method: "DELETE", path: `/api/own-links/${slug}`, status: 401, headers: { authorization: `Bearer ${CANARY}` } },
    { method: "PATCH", path: "/about", status: 405, headers: { authorization: `Bearer ${CANARY}` } },
    { method: "HEAD", path: "/about", status: 200, headers: { "accept-encoding": "br" } },
    { method: "GET", path: "/nowhere", status: 404 },
    { method: "GET", path: "/%zz", status: 400 },
    { method: "GET", path: "/favicon.svg", status: 200 },
  ];
}

export class ExactClient {
  /** Received responses; their number is that of the sent requests. */
  responses = 0;
  private readonly agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

  constructor(
    private readonly port: number,
    readonly number: number,
  ) {}

  /** Sends requests until it is stopped; rejects for a wrong response. */
  async run(hasEnded: () => boolean): Promise<void> {
    for (let round = 0; !hasEnded(); round++) {
      for (const step of stepsOf(`c${this.number}-${round}`)) await this.take(step);
    }
    this.agent.destroy();
  }

  private async take({ method, path, status, headers, body }: Step): Promise<void> {
    const id = `client-${this.number}-${this.responses}`;
    const { port, agent } = this;
    const options = { host: "127.0.0.1", port, agent, method, path, headers: { ...headers, "x-request-id": id } };
    const response = await send(http.request(options), body).catch((cause: unknown) => {
      throw new Error(`${id}, ${method} ${path}, got no response: ${String(cause)}`, { cause });
    });
    this.responses++;
    const { statusCode, headers: received } = response;
    if (statusCode !== status) throw new Error(`${method} ${path} got ${statusCode} instead of ${status}`);
    if (received["x-request-id"] !== id) throw new Error(`the response to ${id} has another id`);
  }
}

/** Resolves to the complete response. */
async function send(request: http.ClientRequest, body: string | undefined): Promise<http.IncomingMessage> {
  request.end(body);
  // Node documents this argument of the event.
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  await once(response.resume(), "end");
  return response;
}
