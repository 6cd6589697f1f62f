/** Our own contender: serves the scenario named by its argument as a process, the way `run()` does it in production. */

import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application, type Context, RateLimit, SecurityHeaders, SystemClock } from "@stagecraft/framework";
import { Pages, type PagesOptions } from "@stagecraft/framework/pages";
import { installLogging } from "@stagecraft/framework/observe";
import { SessionConfig } from "@stagecraft/framework/session";
import { Layer, type Run } from "../../../lib/http/middleware.js";
import { BODY_LIMIT, CSP, MANIFEST, ORIGIN, PAGE_VERSION, QUOTA, SESSION_KEY, TIMEOUT_MS } from "../fixtures.js";
import { freePort } from "../../support/free-port.js";
import { areas, EchoModule, HelloModule, LinksModule, PagesModule, SessionModule } from "./modules.js";

const [scenario = "", count] = (process.argv[2] ?? "").split(":");

/** Enters every request into an AsyncLocalStorage: what carrying a request along costs by itself. */
class InContext extends Layer {
  override wrap(inner: Run): Run {
    const context = new AsyncLocalStorage();
    return (ctx) => context.run(ctx, inner, ctx);
  }
}

function inContext() {
  return Application.create(LinksModule).layer(new InContext());
}

const SCENARIOS = {
  hello: () => Application.create(HelloModule),
  param: () => Application.create(LinksModule),
  "param-in-context": inContext,
  routes: () => Application.create().routes(areas(Number(count))),
  echo: () => Application.create(EchoModule),
  observe: observed,
  full: production,
  session: () => Application.create(SessionModule).session(new SessionConfig(SESSION_KEY)),
  static: () => Application.create().staticFiles({ root: process.env["BENCH_FILES"] ?? "public" }),
  page: () => paged(),
  document: () => paged({ entry: "pages/main.tsx", manifest: manifestFile() }),
  "limit-constant": () => limited(RateLimit.perSecond(QUOTA)),
  "limit-fresh-per-second": () => limited(RateLimit.perSecond(10).by(freshKey)),
  "limit-fresh-per-hour": () => limited(RateLimit.perHour(10).by(freshKey)),
  "limit-fresh-after-a-million": () => limited(asked(RateLimit.perHour(10).by(freshKey), 1_000_000)),
};

/** Lines go to standard error, which the benchmark keeps in a file. */
function observed() {
  installLogging("info");
  return Application.create(LinksModule).requestId().traceContext().accessLog().metrics();
}

/** Every stage that a public service wants, with the values that the peers are given. */
function production() {
  return observed()
    .compression()
    .securityHeaders(new SecurityHeaders().withCspNonce(CSP))
    .cors({ origins: [ORIGIN] })
    .catchPanic()
    .errorMapping()
    .bodyLimit(BODY_LIMIT)
    .timeout(TIMEOUT_MS)
    .rateLimit(RateLimit.perMinute(QUOTA));
}

function paged(options: PagesOptions = {}) {
  return Application.create(PagesModule).pages(new Pages({ ...options, version: PAGE_VERSION }));
}

function manifestFile(): string {
  const file = join(mkdtempSync(join(tmpdir(), "manifest-")), "manifest.json");
  writeFileSync(file, JSON.stringify(MANIFEST));
  return file;
}

function limited(limit: RateLimit) {
  return Application.create(HelloModule).rateLimit(limit);
}

/** The limit after so many requests. */
function asked(limit: RateLimit, times: number): RateLimit {
  const run = limit.wrap(() => undefined);
  const clock = new SystemClock();
  // As much of a request as a limit by a function looks at.
  const request = { clock, completeHeadWith: () => {} } as unknown as Context;
  for (let time = 0; time < times; time += 1) void run(request);
  return limit;
}

let keys = 0;

/** Each request has a key of its own. */
function freshKey(): string {
  keys += 1;
  return `key-${keys}`;
}

function isScenario(name: string): name is keyof typeof SCENARIOS {
  return name in SCENARIOS;
}

if (!isScenario(scenario)) throw new Error(`no scenario "${scenario}"`);
const port = Number(process.env["PORT"] ?? (await freePort()));
const ended = SCENARIOS[scenario]().port(port).build().run();
await answers(port);
console.log(`ready ${port}`);
await ended;

/** Until the application says that it is ready. */
async function answers(at: number): Promise<void> {
  const ready = await new Promise((resolve) => {
    get({ host: "127.0.0.1", port: at, path: "/up/ready", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", () => setTimeout(resolve, 5, false));
  });
  if (ready !== true) await answers(at);
}
