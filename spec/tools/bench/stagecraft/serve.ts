/** Our own contender: serves the scenario named by its argument as a process, the way `run()` does it in production. */

import { AsyncLocalStorage } from "node:async_hooks";
import { Application, Layer, type Run } from "@stagecraft/framework";
import { areas, AssignedEchoModule, EchoModule, HelloModule, LinksModule } from "./modules.js";
import { serving } from "./serving.js";

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

/** A scenario loads what it needs and nothing more: the cold start of `hello` is that of an application without sessions and pages. */
const SCENARIOS = {
  hello: () => Application.create(HelloModule),
  param: () => Application.create(LinksModule),
  "param-in-context": inContext,
  routes: () => Application.create().routes(areas(Number(count))),
  echo: () => Application.create(EchoModule),
  "echo-assigned": () => Application.create(AssignedEchoModule),
  "echo-schema": async () => (await import("./contracts.js")).checked(),
  "echo-schema-guarded": async () => (await import("./contracts.js")).guarded(),
  "echo-schema-stripped": async () => (await import("./contracts.js")).stripped(),
  static: () => Application.create().staticFiles({ root: process.env["BENCH_FILES"] ?? "public" }),
  observe: async () => (await import("./observed.js")).observed(),
  full: async () => (await import("./observed.js")).production(),
  session: async () => (await import("./sessions.js")).session(),
  "signed-in": async () => (await import("./signed-in.js")).signedInApplication(),
  "api-token": async () => (await import("./api-tokens.js")).apiTokenApplication(),
  translated: async () => (await import("./translated.js")).translated(),
  "translated-values": async () => (await import("./translated.js")).filled(),
  page: async () => (await import("./pages.js")).paged(),
  document: async () => (await import("./pages.js")).document(),
  "limit-constant": async () => (await import("./limits.js")).constant(),
  "limit-fresh-per-second": async () => (await import("./limits.js")).freshPerSecond(),
  "limit-fresh-per-hour": async () => (await import("./limits.js")).freshPerHour(),
  "limit-fresh-after-a-million": async () => (await import("./limits.js")).freshAfterAMillion(),
};

function isScenario(name: string): name is keyof typeof SCENARIOS {
  return name in SCENARIOS;
}

if (!isScenario(scenario)) throw new Error(`no scenario "${scenario}"`);
await serving(await SCENARIOS[scenario]());
