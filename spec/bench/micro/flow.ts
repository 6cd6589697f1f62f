/**
 * What carrying a request along the asynchronous flow costs, and what an event costs that nobody wants to read. Both are part of the
 * price of the `observe` scenario.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { tracing } from "@stagecraft/framework/observe/tracing";
import type { Comparison } from "./comparison.js";

export function flowComparisons(): readonly Comparison[] {
  return [entering(), belowTheLevel()];
}

async function handler(): Promise<number> {
  return Promise.resolve(1);
}

/** One `run` and one await inside it, as a request does at least. */
function entering(): Comparison {
  const storage = new AsyncLocalStorage<object>();
  return {
    what: "an awaited call",
    contenders: [
      {
        name: "by itself",
        run: async (times) => {
          for (let turn = 0; turn < times; turn += 1) await handler();
        },
      },
      {
        name: "in AsyncLocalStorage.run",
        run: async (times) => {
          for (let turn = 0; turn < times; turn += 1) await storage.run({ turn }, handler);
        },
      },
    ],
  };
}

function belowTheLevel(): Comparison {
  const log = tracing.target("bench");
  const collect = { maxLevel: () => "INFO" as const, onEvent: () => undefined };
  const subscriber = tracing.registry().with(collect);
  return {
    what: "an event below the level",
    contenders: [
      {
        name: "nobody listens",
        run: (times) => {
          for (let turn = 0; turn < times; turn += 1) log.debug("turned", { turn });
        },
      },
      {
        name: "somebody listens to INFO",
        run: (times) =>
          tracing.withSubscriber(subscriber, () => {
            for (let turn = 0; turn < times; turn += 1) log.debug("turned", { turn });
          }),
      },
    ],
  };
}
