/**
 * A request passes the stages in the order of the table, its response in the reverse order: over a socket, first with a marker in every slot,
 * then with the real stages and a proof for each pair of neighbours.
 */
import {
  STAGES,
  type Context,
  type KoaMiddleware,
  type Layer,
  type Next,
  type Run,
  type Slot,
} from "@stagecraft/framework";
import type { AnyRequestOptions } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { createServer } from "node:http";
import * as fc from "fast-check";
import { compose } from "../../lib/http/compose.js";
import { respondWith } from "../../lib/http/response/returned-value.js";
import { Layer as KernelLayer } from "../../lib/http/middleware.js";
import { ErrorBoundary } from "../../lib/pipeline/error-boundary.js";
import { Pipeline } from "../../lib/pipeline/pipeline.js";
import { listeningOn } from "../support/listening-on.js";
import { DEV_ENDPOINT, EveryStage, LIMIT_BYTES, LONG, ORIGIN, QUOTA } from "../support/every-stage.js";
import { StageProbes, type ProbedRequest } from "../support/stage-probes.js";
import { Stack } from "../support/stack.js";

/** A complete chain as a layer. */
class Whole extends KernelLayer {
  constructor(private readonly run: Run) {
    super();
  }

  override wrap(): Run {
    return this.run;
  }
}

const SLOTS = STAGES.map(({ slot }) => slot);
const WAYS_IN = SLOTS.filter((slot) => slot !== "router" && slot !== "staticFiles");

/** A stage that only leaves marks. */
function marker(slot: Slot, seen: string[]): KoaMiddleware {
  return async (_ctx: Context, next: Next) => {
    seen.push(slot);
    await next();
    seen.push(`${slot} again`);
  };
}

async function walk(order: readonly Slot[], ends: Slot): Promise<readonly string[]> {
  const seen: string[] = [];
  const router: KoaMiddleware = (ctx: Context, next) => {
    seen.push("router");
    return ends === "router" ? respondWith(ctx, "done") : next();
  };
  const pipeline = new Pipeline().put("router", router).guard("layers", new ErrorBoundary(() => {}));
  for (const slot of order) if (slot !== "router") pipeline.put(slot, marker(slot, seen));
  const chain = compose(pipeline.toFunctions(), (ctx) => respondWith(ctx, "done"));
  const layer: Layer = new Whole(chain);
  await using stack = await Stack.of([layer]);
  expect((await stack.ask("/")).text).to.equal("done");
  return seen;
}

const out = (slots: readonly Slot[]) => slots.toReversed().map((slot) => `${slot} again`);

describe("the order of the stages", () => {
  it("is that of the table for any order of the calls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...SLOTS], { minLength: SLOTS.length }), async (order) => {
        const seen = await walk(order, "router");

        expect(seen).to.deep.equal([...WAYS_IN, "router", ...out(WAYS_IN)]);
      }),
      { numRuns: 20 },
    );
  });

  it("has the fallback behind the router", async () => {
    const seen = await walk(SLOTS, "staticFiles");

    expect(seen).to.deep.equal([...WAYS_IN, "router", "staticFiles", "staticFiles again", ...out(WAYS_IN)]);
  });

  it("leaves out the slots that are empty", async () => {
    await fc.assert(
      fc.asyncProperty(fc.subarray([...WAYS_IN]), async (some) => {
        const seen = await walk(some, "router");

        expect(seen).to.deep.equal([...some, "router", ...out(some)]);
      }),
      { numRuns: 20 },
    );
  });

  it("numbers 23 stages in 25 slots", () => {
    const numbers = STAGES.map(({ number }) => number);

    expect(SLOTS).to.have.lengthOf(25);
    expect([...new Set(numbers)]).to.deep.equal(Array.from({ length: 23 }, (_value, at) => at + 1));
    expect(numbers).to.deep.equal(numbers.toSorted((a, b) => a - b));
    expect(STAGES.filter(({ why }) => why.length <= 10)).to.deep.equal([]);
  });
});

const GZIP = { headers: { "Accept-Encoding": "gzip" } };
const PREFLIGHT = { method: "OPTIONS", headers: { Origin: ORIGIN, "Access-Control-Request-Method": "PUT" } };
const TOO_LARGE = { method: "POST", body: LONG.slice(0, LIMIT_BYTES + 1) };
const PROBLEM = "application/problem+json";

type Proof = (probes: StageProbes) => Promise<void>;

/** Exempt from the CSRF check. */
const BEARER = { Authorization: "Bearer of-a-program" };

/** Every stage with the next inner one, and the proof that it stands outside it. */
const NEIGHBOURS: readonly (readonly [outer: Slot, inner: Slot, how: string, proof: Proof])[] = [
  [
    "devProxy",
    "proxy",
    "a source is the development server's, although the proxy function closes its path",
    async (probes) => {
      const without = await probes.request("/src/main.ts");
      const server = await listeningOn(
        createServer((_incoming, response) => response.end("a module")),
        DEV_ENDPOINT,
      );
      const { text } = await probes.request("/src/main.ts");
      server.close();

      expect([without.response.status, text]).to.deep.equal([410, "a module"]);
    },
  ],
  [
    "proxy",
    "health",
    "health responds to a target that was rewritten",
    async (probes) => {
      const { text } = await probes.request("/old/health/live");

      expect(text).to.equal('{"state":"ready"}');
    },
  ],
  [
    "health",
    "uagEndpoint",
    "a request for the graph passes health, and one for health ends there",
    async (probes) => {
      const [graph, health] = [await probes.request("/_framework/uag.json"), await probes.request("/health/live")];

      expect([graph.response.status, graph.gapsReached.at(-1)]).to.deep.equal([200, "health"]);
      expect([health.response.status, health.gapsReached.at(-1)]).to.deep.equal([200, "proxy"]);
    },
  ],
  [
    "uagEndpoint",
    "compression",
    "the graph does not vary by what the client can decode",
    async (probes) => {
      const graph = await probes.request("/_framework/uag.json", GZIP);
      const page = await probes.request("/page", GZIP);

      expect([graph.response.headers.get("vary"), page.response.headers.get("vary")]).to.deep.equal([
        null,
        "Accept-Encoding, X-Inertia, Origin",
      ]);
    },
  ],
  [
    "compression",
    "securityHeaders",
    "between them there is no nonce yet, and the body is not compressed",
    async (probes) => {
      const { response, requestAt, responseAt } = await probes.request("/long", GZIP);

      expect([requestAt("compression").nonce, requestAt("securityHeaders").nonce]).to.deep.equal([false, true]);
      expect([responseAt("health").encoding, responseAt("compression").encoding]).to.deep.equal(["gzip", undefined]);
      expect(response.headers.get("content-encoding")).to.equal("gzip");
    },
  ],
  [
    "securityHeaders",
    "cors",
    "a preflight carries the security headers",
    async (probes) => {
      const { response, gapsReached } = await probes.request("/page", PREFLIGHT);

      expect([response.status, response.headers.get("x-frame-options")]).to.deep.equal([204, "DENY"]);
      expect(gapsReached.at(-1)).to.equal("securityHeaders");
    },
  ],
  [
    "cors",
    "requestId",
    "a preflight has no id",
    async (probes) => {
      const preflight = await probes.request("/page", PREFLIGHT);
      const page = await probes.request("/page", { headers: { Origin: ORIGIN } });

      expect(preflight.response.headers.has("x-request-id")).to.equal(false);
      expect(page.response.headers.has("x-request-id")).to.equal(true);
    },
  ],
  [
    "requestId",
    "traceContext",
    "between them there is an id and no trace yet",
    async (probes) => {
      const { requestAt } = await probes.request("/page");

      expect(requestAt("cors")).to.include({ requestId: false, trace: false });
      expect(requestAt("requestId")).to.include({ requestId: true, trace: false });
      expect(requestAt("traceContext")).to.include({ requestId: true, trace: true });
    },
  ],
  [
    "traceContext",
    "accessLog",
    "the line is written inside the span of the trace",
    async (probes) => {
      await probes.request("/page", { headers: { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` } });

      expect(probes.lines).to.have.lengthOf(1);
      expect(probes.lines[0])
        .to.include(`"trace_id":"${"a".repeat(32)}"`)
        .and.include('"spans":["framework.request"]');
    },
  ],
  [
    "accessLog",
    "metrics",
    "between them the request is counted and not logged yet",
    async (probes) => {
      const { responseAt } = await probes.request("/page");

      expect(responseAt("traceContext")).to.include({ countedRequests: 1, loggedLines: 1 });
      expect(responseAt("accessLog")).to.include({ countedRequests: 1, loggedLines: 0 });
      expect(responseAt("metrics")).to.include({ countedRequests: 0, loggedLines: 0 });
    },
  ],
  [
    "metrics",
    "catchPanic",
    "an unhandled error is counted as a response",
    async (probes) => {
      const { responseAt } = await probes.request("/panic");

      expect(responseAt("metrics").status).to.equal(500);
      expect(responseAt("catchPanic").status).to.equal(undefined);
    },
  ],
  [
    "catchPanic",
    "errorMapping",
    "between them an unhandled error is an exception, and a bodiless error has its body",
    async (probes) => {
      const panic = await probes.request("/panic");
      const missing = await probes.request("/nowhere");

      expect(panic.responseAt("catchPanic").status).to.equal(undefined);
      expect(missing.responseAt("catchPanic")).to.include({ status: 404, type: PROBLEM });
      expect(missing.responseAt("errorMapping")).to.include({ status: 404, type: undefined });
    },
  ],
  [
    "errorMapping",
    "bodyLimit",
    "the bodiless refusal of a body gets a problem",
    async (probes) => {
      const { response, responseAt } = await probes.request("/echo", TOO_LARGE);

      expect(responseAt("errorMapping")).to.include({ status: 413, type: undefined });
      expect(response.headers.get("content-type")).to.equal(PROBLEM);
    },
  ],
  [
    "bodyLimit",
    "timeout",
    "between them the body is limited and the time is not",
    async (probes) => {
      const { requestAt } = await probes.request("/page");

      expect(requestAt("errorMapping")).to.include({ limited: false, timed: false });
      expect(requestAt("bodyLimit")).to.include({ limited: true, timed: false });
      expect(requestAt("timeout")).to.include({ limited: true, timed: true });
    },
  ],
  [
    "timeout",
    "maintenance",
    "a request that is refused for maintenance is timed",
    async (probes) => {
      probes.stages.maintenance.engage();

      const { response, gapsReached, requestAt } = await probes.request("/page");

      expect([response.status, gapsReached.at(-1)]).to.deep.equal([503, "timeout"]);
      expect(requestAt("timeout").timed).to.equal(true);
    },
  ],
  [
    "maintenance",
    "rateLimit",
    "a request that is refused for maintenance takes nothing from the quota",
    async (probes) => {
      probes.stages.maintenance.engage();
      const refused = await probes.request("/page");
      probes.stages.maintenance.disengage();
      const served = await probes.request("/page");

      expect(refused.response.headers.has("ratelimit-remaining")).to.equal(false);
      expect(served.response.headers.get("ratelimit-remaining")).to.equal(String(QUOTA - 1));
    },
  ],
  [
    "rateLimit",
    "session",
    "between them there is no session yet",
    async (probes) => {
      const { requestAt } = await probes.request("/page");

      expect(requestAt("rateLimit").session).to.equal(false);
      expect(requestAt("session").session).to.equal(true);
    },
  ],
  [
    "session",
    "csrf",
    "a request that is refused has its session",
    async (probes) => {
      const { gapsReached, requestAt, response } = await probes.request("/page", { method: "POST" });

      expect([response.status, gapsReached.at(-1)]).to.deep.equal([403, "session"]);
      expect(requestAt("session").session).to.equal(true);
    },
  ],
  [
    "csrf",
    "pages",
    "between them a redirect with a fragment is the response that the page client understands",
    async (probes) => {
      const { responseAt } = await probes.request("/part", { headers: { "X-Inertia": "true" } });

      expect(responseAt("csrf").status).to.equal(409);
      expect(responseAt("pages").status).to.equal(302);
    },
  ],
  [
    "pages",
    "pageContracts",
    "the contracts are on the request inside them",
    async (probes) => {
      const { requestAt } = await probes.request("/page");

      expect([requestAt("pages").contracts, requestAt("pageContracts").contracts]).to.deep.equal([false, true]);
    },
  ],
  [
    "pageContracts",
    "redirectMapper",
    "between them a redirect has its location",
    async (probes) => {
      const { responseAt } = await probes.request("/away");

      expect(responseAt("pageContracts")).to.include({ status: 302, location: "/module" });
      expect(responseAt("redirectMapper")).to.include({ location: undefined });
    },
  ],
  [
    "redirectMapper",
    "layers",
    "an error is an exception to the layers, and a response outside them",
    async (probes) => {
      const { responseAt } = await probes.request("/bad");

      expect(responseAt("redirectMapper").status).to.equal(400);
      expect(responseAt("layers").status).to.equal(undefined);
    },
  ],
  [
    "layers",
    "router",
    "the layers see requests without a route",
    async (probes) => {
      const seen = [
        await probes.request("/nowhere"),
        await probes.request("/page", { method: "DELETE", headers: BEARER }),
      ];

      expect(seen.map(({ response }) => response.status)).to.deep.equal([404, 405]);
      for (const { response } of seen) expect(response.headers.get("x-layers")).to.equal("first, second, third");
    },
  ],
  [
    "router",
    "staticFiles",
    "a route is asked before a file of the same path",
    async (probes) => {
      const both = await probes.request("/robots.txt");
      const file = await probes.request("/favicon.svg");

      expect(both.text).to.equal("of a route");
      expect(file.text).to.match(/^<svg /);
    },
  ],
];

/** The stages that refuse or respond, and the last gap that such a request reaches. */
const HANDLER_RESULTS: readonly (readonly [who: Slot, status: number, path: string, AnyRequestOptions, last?: Slot])[] =
  [
    ["proxy", 410, "/closed", {}, "devProxy"],
    ["health", 200, "/health/ready", {}, "proxy"],
    ["uagEndpoint", 200, "/_framework/uag.json", {}, "health"],
    ["cors", 204, "/page", PREFLIGHT, "securityHeaders"],
    ["bodyLimit", 413, "/echo", TOO_LARGE, "errorMapping"],
    ["maintenance", 503, "/page", {}, "timeout"],
    ["rateLimit", 429, "/page", {}, "maintenance"],
    ["csrf", 403, "/page", { method: "POST" }, "session"],
  ];

async function provoke(probes: StageProbes, who: Slot): Promise<void> {
  if (who === "maintenance") probes.stages.maintenance.engage();
  if (who === "rateLimit") for (let spent = 0; spent < QUOTA; spent++) await probes.request("/page");
}

/** Which headers of outer stages the response of a refused request has. */
const envelopeOf = ({ response: { headers } }: ProbedRequest) =>
  ["x-frame-options", "access-control-allow-origin", "x-request-id"].map((name) => headers.has(name));

describe("the real stages", () => {
  it("all have a proof for each neighbour", async () => {
    const { settings } = new EveryStage();
    const there = SLOTS.filter((slot) => slot in settings || slot === "layers" || slot === "router");

    expect(NEIGHBOURS.map(([outer]) => outer)).to.deep.equal(there.slice(0, -1));
    expect(NEIGHBOURS.map(([, inner]) => inner)).to.deep.equal(there.slice(1));
  });

  for (const [outer, inner, how, proof] of NEIGHBOURS) {
    it(`have ${outer} outside ${inner}: ${how}`, async () => {
      await using probes = await StageProbes.start();

      await proof(probes);
    });
  }

  for (const [who, status, path, options, last] of HANDLER_RESULTS) {
    it(`run no inner stage where ${who} responds with ${status}`, async () => {
      await using probes = await StageProbes.start();
      await provoke(probes, who);

      const { response, gapsReached } = await probes.request(path, options);

      expect(response.status).to.equal(status);
      expect(gapsReached.at(-1)).to.equal(last);
      expect(response.headers.has("x-layers")).to.equal(false);
    });
  }

  for (const [who, status, path, options] of HANDLER_RESULTS.slice(4)) {
    it(`complete, log and count the ${status} of ${who}`, async () => {
      await using probes = await StageProbes.start();
      await provoke(probes, who);
      const before = probes.lines.length;

      const seen = await probes.request(path, { ...options, headers: { Origin: ORIGIN } });

      expect(envelopeOf(seen)).to.deep.equal([true, true, true]);
      expect(probes.lines.slice(before)).to.have.lengthOf(1);
      expect(seen.responseAt("traceContext")).to.include({ status, countedRequests: before + 1 });
    });
  }

  it("add nothing to the responses of health", async () => {
    await using probes = await StageProbes.start();
    await provoke(probes, "maintenance");

    const { response } = await probes.request("/health/ready", { headers: { Origin: ORIGIN } });

    const names = [...response.headers.keys()].filter((name) => !["connection", "date", "keep-alive"].includes(name));
    expect(names.toSorted()).to.deep.equal(["cache-control", "content-length", "content-type"]);
    expect(probes.lines).to.deep.equal([]);
  });
});
