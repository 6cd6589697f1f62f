import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { expect } from "chai";
import * as undici from "undici";
import type { RemoteParent } from "../../../lib/tracing/subscriber.js";
import { tracing } from "../../../lib/tracing/tracing.js";
import { enterRequest } from "../../../lib/tracing/flow.js";
import { closeSpan, openSpan } from "../../../lib/tracing/span.js";
import { Telemetry } from "../../../lib/entries/observe-otel.js";
import { attributesOf, hex, type ExportedSpan } from "./collector.js";
import { exported } from "./export.js";
import { listening, type Listening } from "../../support/listening.js";
import { rejectionOf } from "../../support/rejection-of.js";

const log = tracing.target("shop::links");

const CALLER: RemoteParent = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  traceFlags: 0,
  traceState: "vendor=a:b, other=1",
};

describe("tracedFetch", () => {
  let own: Listening<Server>;
  let base: string;
  let seen: IncomingHttpHeaders;
  let status: number;

  beforeEach(async () => {
    status = 200;
    const server = createServer((request, response) => {
      seen = request.headers;
      response.writeHead(status).end("content");
    });
    own = await listening(server);
    base = own.url;
  });

  afterEach(() => own[Symbol.dispose]());

  it("creates a span for a call, and returns its response", async () => {
    let text = "";
    const collector = await exported(async (telemetry) => {
      const response = await telemetry.tracedFetch()(`${base}/links`);
      text = await response.text();
    });

    const span = collector.span("fetch");
    expect(text).to.equal("content");
    expect(span.kind).to.equal("SPAN_KIND_CLIENT");
    expect(span.status).to.deep.equal({ code: "STATUS_CODE_UNSET" });
    expect(attributesOf(span)).to.deep.equal({ method: "GET", url: `${base}/links`, status: 200 });
  });

  it("takes the Request of a package, for the fetch of that package", async () => {
    const request = new undici.Request(`${base}/links`, { method: "PUT", headers: { "x-mine": "1" }, body: "a" });
    // The package declares the same function with other types.
    const theirs = undici.fetch as unknown as typeof globalThis.fetch;
    const collector = await exported((telemetry) => telemetry.tracedFetch(theirs)(request as unknown as Request));

    expect(attributesOf(collector.span("fetch"))).to.deep.equal({ method: "PUT", url: `${base}/links`, status: 200 });
    expect(seen["x-mine"]).to.equal("1");
    expect(seen["traceparent"]).to.equal(traceparent(collector.span("fetch"), "01"));
  });

  it("sends the ids of the span, and sampled for a trace that starts here", async () => {
    const collector = await exported((telemetry) => telemetry.tracedFetch()(base));

    expect(seen["traceparent"]).to.equal(traceparent(collector.span("fetch"), "01"));
    expect(seen["tracestate"]).to.equal(undefined);
  });

  it("creates a child of the current span", async () => {
    const collector = await exported((telemetry) => log.span("import").run(() => telemetry.tracedFetch()(base)));

    const [outer, span] = [collector.span("import"), collector.span("fetch")];
    expect(span.parentSpanId).to.equal(outer.spanId);
    expect(seen["traceparent"]).to.equal(traceparent(span, "01"));
  });

  it("continues the caller's trace with its state and its flags", async () => {
    const collector = await exported((telemetry) =>
      inRequest(CALLER, () => log.span("import").run(() => telemetry.tracedFetch()(base))),
    );

    const span = collector.span("fetch");
    expect(hex(span.traceId)).to.equal(CALLER.traceId);
    expect(seen["traceparent"]).to.equal(traceparent(span, "00"));
    expect(seen["tracestate"]).to.equal(CALLER.traceState);
  });

  it("replaces given trace headers, and keeps the other headers", async () => {
    const collector = await exported((telemetry) =>
      telemetry.tracedFetch()(base, { headers: { TraceParent: "mine", tracestate: "mine=1", "x-mine": "1" } }),
    );

    expect(seen["traceparent"]).to.equal(traceparent(collector.span("fetch"), "01"));
    expect(seen).to.include({ "x-mine": "1" }).and.not.have.property("tracestate");
  });

  it("accepts the arguments of fetch", async () => {
    const collector = await exported(async (telemetry) => {
      const fetch = telemetry.tracedFetch();
      const request = new Request(`${base}/request`, { method: "PUT", headers: { "x-mine": "1" }, body: "body" });
      await fetch(request);
      expect(seen).to.include({ "x-mine": "1" });
      await fetch(new URL("/url", base), { method: "delete" });
      await fetch(request.url, { method: "post", body: "body", headers: [["x-mine", "2"]] });
      await fetch(base, { method: "search" });
      expect(seen).to.include({ "x-mine": "2", "content-length": "4" });
    });

    const calls = collector.spans.map((span) => attributesOf(span)).map(({ method, url }) => [method, url]);
    expect(calls).to.deep.equal([
      ["PUT", `${base}/request`],
      ["DELETE", `${base}/url`],
      ["POST", `${base}/request`],
      ["search", `${base}/`],
    ]);
  });

  it("accepts a Request as options, as fetch does", async () => {
    own.server.removeAllListeners("request").on("request", (request, response) => {
      seen = request.headers;
      void textOf(request).then((body) => response.end(`${request.method} ${body}`));
    });
    const arrived = new Request("http://elsewhere/", { method: "POST", headers: { "x-mine": "1" }, body: "hello" });
    let sent = "";

    const collector = await exported(async (telemetry) => {
      sent = await (await telemetry.tracedFetch()(base, arrived)).text();
    });

    expect(sent).to.equal("POST hello");
    expect(seen).to.include({ "x-mine": "1" });
    expect(attributesOf(collector.span("fetch"))).to.include({ method: "POST", url: `${base}/` });
  });

  it("observes the signal and the redirect mode of a Request as options", async () => {
    status = 302;
    const stopped = new Request(base, { signal: AbortSignal.abort() });
    let shown: Response | undefined;

    await exported(async (telemetry) => {
      const fetch = telemetry.tracedFetch();
      expect(await rejectionOf(fetch(base, stopped))).to.have.property("name", "AbortError");
      shown = await fetch(base, new Request(base, { redirect: "manual" }));
    });

    expect(shown?.status).to.equal(302);
  });

  it("reads address and options once, and rejects the headers that fetch rejects", async () => {
    let read = 0;
    // `fetch` declares neither type.
    const address = { toString: () => `${base}/${read++}` } as unknown as URL;
    const none = { headers: null } as unknown as RequestInit;

    const collector = await exported(async (telemetry) => {
      await telemetry.tracedFetch()(address, {
        get method() {
          return read++ === 1 ? "PUT" : "DELETE";
        },
      });
      expect(await rejectionOf(telemetry.tracedFetch()(base, none))).to.be.instanceOf(TypeError);
    });

    expect(read).to.equal(2);
    expect(attributesOf(collector.spans[0] ?? {})).to.include({ method: "PUT", url: `${base}/0` });
  });

  it("records neither query, fragment nor credentials", async () => {
    const url = base.replace("//", "//user:hunter2@");
    const collector = await exported(async (telemetry) => {
      // Node's fetch refuses credentials; another implementation may not.
      const fetch = telemetry.tracedFetch(() => Promise.resolve(new Response()));
      await fetch(`${url}/links?token=hunter2#hunter2`);
      await fetch("data:text/plain,hunter2");
    });

    expect(collector.spans.map((span) => attributesOf(span)["url"])).to.deep.equal([`${base}/links`, "data:"]);
    expect(JSON.stringify(collector.requests)).to.not.include("hunter2");
  });

  for (const [code, expected] of [
    [399, { code: "STATUS_CODE_UNSET" }],
    [404, { code: "STATUS_CODE_ERROR", message: "HTTP 404" }],
    [503, { code: "STATUS_CODE_ERROR", message: "HTTP 503" }],
  ] as const) {
    it(`gives the span of a response ${code} the status ${expected.code}`, async () => {
      status = code;

      const collector = await exported((telemetry) => telemetry.tracedFetch()(base));

      const span = collector.span("fetch");
      expect(span.status).to.deep.equal(expected);
      expect(attributesOf(span)["status"]).to.equal(code);
    });
  }

  it("records the error of a call with its causes, and rejects with it", async () => {
    own.server.close();
    let error: unknown;
    const collector = await exported(async (telemetry) => {
      error = await rejectionOf(telemetry.tracedFetch()("http://127.0.0.1:9/"));
    });

    expect(error).to.be.instanceOf(TypeError);
    const span = collector.span("fetch");
    expect(span.status?.code).to.equal("STATUS_CODE_ERROR");
    expect(span.status?.message).to.match(/^TypeError: fetch failed: caused by /);
    expect(attributesOf(span)).to.not.have.property("status");
  });

  it("records a call that is aborted", async () => {
    const collector = await exported(async (telemetry) => {
      await rejectionOf(telemetry.tracedFetch()(base, { signal: AbortSignal.abort() }));
    });

    expect(collector.span("fetch").status?.code).to.equal("STATUS_CODE_ERROR");
  });

  it("does not record an address that fetch refuses", async () => {
    const collector = await exported(async (telemetry) => {
      await rejectionOf(telemetry.tracedFetch()("http://[hunter2"));
      await rejectionOf(telemetry.tracedFetch()("/links?token=hunter2"));
      log.span("after").run(() => {});
    });

    expect(collector.spans.map(({ name }) => name)).to.deep.equal(["after"]);
  });

  it("rejects as fetch does, and does not throw", async () => {
    const bad: unknown[] = [Symbol("address"), { toString: () => raise(new Error("no address")) }];

    await exported(async (telemetry) => {
      const fetch = telemetry.tracedFetch();
      // A caller without a compiler can pass any value.
      const calls = bad.map((address) => fetch(address as string));
      calls.push(fetch(base, { method: 5 as unknown as string, headers: { "not a name": "1" } }));

      for (const call of calls) expect(await rejectionOf(call)).to.be.instanceOf(Error);
    });
  });

  it("creates one span for a redirected call, and sends its context to both servers", async () => {
    const seenOf: (string | undefined)[] = [];
    own.server.removeAllListeners("request").on("request", ({ url, headers }, response) => {
      seenOf.push(`${url} ${String(headers["traceparent"])}`);
      response.writeHead(url === "/old" ? 302 : 200, { location: "/new" }).end();
    });

    const collector = await exported((telemetry) => telemetry.tracedFetch()(`${base}/old`));

    const span = collector.span("fetch");
    expect(attributesOf(span)).to.include({ url: `${base}/old`, status: 200 });
    expect(seenOf).to.deep.equal([`/old ${traceparent(span, "01")}`, `/new ${traceparent(span, "01")}`]);
  });

  it("does not change a call that is not exported", async () => {
    const telemetry = Telemetry.builder("shop").build();

    const response = await telemetry.tracedFetch()(base, { headers: { "x-mine": "1" } });

    expect(response.status).to.equal(200);
    expect(seen).to.include({ "x-mine": "1" }).and.not.have.property("traceparent");
  });

  it("does not change a call after the shutdown", async () => {
    const collector = await exported(async (telemetry) => {
      await telemetry.shutdown();
      await telemetry.tracedFetch()(base, { headers: { traceparent: "mine" } });
    });

    expect(seen).to.include({ traceparent: "mine" });
    expect(collector.spans).to.deep.equal([]);
  });

  it("does not touch the global fetch", async () => {
    const before = globalThis.fetch;

    await exported((telemetry) => telemetry.tracedFetch()(base));

    expect(globalThis.fetch).to.equal(before);
  });
});

function raise(error: unknown): never {
  throw error;
}

function traceparent({ traceId, spanId }: ExportedSpan, flags: string): string {
  return `00-${hex(traceId)}-${hex(spanId)}-${flags}`;
}

/** Runs `work` in a request that continues the trace of `caller`. */
async function inRequest(caller: RemoteParent, work: () => Promise<unknown>): Promise<void> {
  await enterRequest(async () => {
    const span = openSpan("framework::observe::trace_context", "framework.request", { continued_trace: true }, caller);
    await work();
    closeSpan(span);
  }, undefined);
}
