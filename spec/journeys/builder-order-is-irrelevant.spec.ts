/**
 * The order of the builder's calls does not change the application: it has the same stages, the same settings, and over a socket the same
 * responses and the same events. Only the calls of `.layer()` keep their order.
 */
import { Application } from "@stagecraft/framework";
import { testApp, type AnyRequestOptions, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import * as fc from "fast-check";
import type { ApplicationParts } from "../../lib/app/build.js";
import { EveryStage, GreetingModule, LIMIT_BYTES, LIMIT_MS, LONG, ORIGIN, QUOTA } from "../support/every-stage.js";

type Order = readonly (keyof EveryStage["settings"] | "layer")[];

const PLAIN: Order = [...settingNames(new EveryStage()), "layer", "layer", "layer"];

function settingNames({ settings }: EveryStage): readonly (keyof EveryStage["settings"])[] {
  // A literal has only the keys of its type.
  return Object.keys(settings) as (keyof EveryStage["settings"])[];
}

function buildInOrder(stages: EveryStage, order: Order) {
  const builder = Application.create(GreetingModule);
  const layers = [...stages.layers];
  for (const each of order) {
    if (each === "layer") builder.layer(...layers.splice(0, 1));
    else stages.settings[each](builder);
  }
  return builder;
}

interface Step extends Omit<AnyRequestOptions, "headers"> {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Exempt from the CSRF check. */
const BEARER = { Authorization: "Bearer of-a-program" };

const steps: readonly Step[] = [
  { path: "/page" },
  { path: "/page", headers: { "X-Forwarded-For": "198.51.100.7", Origin: ORIGIN } },
  { path: "/page", method: "HEAD" },
  { path: "/module" },
  { path: "/old/page?token=hidden" },
  { path: "/closed" },
  { path: "/long", headers: { "Accept-Encoding": "gzip" } },
  { path: "/away" },
  { path: "/favicon.svg" },
  { path: "/robots.txt" },
  { path: "/page", method: "OPTIONS", headers: { Origin: ORIGIN, "Access-Control-Request-Method": "PUT" } },
  { path: "/page", method: "OPTIONS" },
  { path: "/page", method: "DELETE", headers: BEARER },
  { path: "/page", method: "DELETE" },
  { path: "/nowhere" },
  { path: "/%zz" },
  { path: "/bad" },
  { path: "/panic", headers: { Origin: ORIGIN } },
  { path: "/echo", method: "POST", body: "short", headers: BEARER },
  { path: "/echo", method: "POST", body: LONG.slice(0, LIMIT_BYTES + 1) },
  { path: "/health" },
  { path: "/health/live", headers: { "Accept-Encoding": "gzip" } },
  { path: "/up/live" },
];

/** The client sends its own ids; random values and values of the machine are replaced by constants. */
const HEADERS = { "x-request-id": "chosen", traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };

function lasting(text: string): string {
  return text
    .replaceAll(/__Host-csrf=\w{64}/g, "__Host-csrf")
    .replaceAll(/nonce-[\w+/]{24}/g, "nonce")
    .replaceAll(/"timestamp":"[^"]*"/g, "")
    .replaceAll(/"stack":"(?:[^"\\]|\\.)*"/g, "");
}

async function send(app: TestApp, step: Step) {
  const { path, ...options } = step;
  const response = await app.request(path, { ...options, headers: { ...HEADERS, ...options.headers } });
  const { date: _now, ...headers } = Object.fromEntries(response.headers);
  return lasting(JSON.stringify([path, response.status, headers, await response.text()]));
}

async function outOfTime(app: TestApp, { clock, slowBegun }: EveryStage): Promise<string> {
  const sending = send(app, { path: "/slow" });
  await slowBegun.passed;
  // The wait begins only after the handler has done its part.
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(LIMIT_MS);
  return sending;
}

/** Everything visible from outside, and the settings that the socket of a test does not use. */
async function seen(order: Order) {
  const stages = new EveryStage();
  await using app = await testApp(buildInOrder(stages, order));
  const responses: string[] = [];
  for (const step of steps) responses.push(await send(app, step));
  responses.push(await outOfTime(app, stages));
  for (let spent = 0; spent <= QUOTA; spent++) responses.push(await send(app, { path: "/page" }));
  stages.maintenance.engage();
  responses.push(await send(app, { path: "/page" }), await send(app, { path: "/health/ready" }));

  // The settings of the listener are private to the application.
  const { host, port, times, config } = (app.application as unknown as { readonly parts: ApplicationParts }).parts;
  return {
    pipeline: app.application.pipeline(),
    settings: { host, port, times, config },
    responses,
    log: lasting(app.logs.transcript()).split("\n"),
    metrics: stages.metrics.render(),
  };
}

describe("the order of the builder's calls", () => {
  let plain: Awaited<ReturnType<typeof seen>>;

  before(async () => {
    plain = await seen(PLAIN);
  });

  it("is tested with every stage on that can be on", () => {
    const { settings } = new EveryStage();
    // In the form that `send` writes.
    const statuses = plain.responses.map((each) => (JSON.parse(each) as [path: string, status: number])[1]);

    expect(plain.pipeline.filter(({ slot, on }) => slot in settings && !on)).to.deep.equal([]);
    expect([...new Set(statuses)]).to.include.members([
      200, 204, 302, 400, 403, 404, 405, 408, 410, 413, 429, 500, 503,
    ]);
    expect(plain.settings).to.include({ host: "127.0.0.2", port: 4002 });
    expect(plain.settings.config).to.include({ name: "every", url: "https://shop.example" });
    expect(plain.log.filter((line) => line.includes('"message":"handled"'))).not.to.deep.equal([]);
    expect(plain.metrics).to.include('http_requests_total{method="GET",status="408"} 1');
  });

  it("does not change stages, settings, responses, log and metrics", async function () {
    this.timeout(60_000);
    const orders = fc.shuffledSubarray([...PLAIN], { minLength: PLAIN.length });

    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        expect(await seen(order)).to.deep.equal(plain);
      }),
      { numRuns: 12 },
    );
  });

  it("counts for layers: the first is the outermost", async () => {
    const [first, second, third] = new EveryStage().layers;
    const layers = [third, first, second].filter((each) => each !== undefined);
    await using app = await testApp(Application.create().layer(...layers));

    const response = await app.get("/");

    expect(plain.responses[0]).to.include('"x-layers":"first, second, third"');
    expect(response.headers.get("x-layers")).to.equal("third, first, second");
  });
});
