/**
 * The cost of carrying a request along the asynchronous flow, and the cost of an event that no subscriber wants. Both are part of the
 * price of the `observe` scenario.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { installLogging } from "@stagecraft/framework/observe";
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

/** While a sink listens to INFO; with and without an object that the caller makes for nothing. */
function belowTheLevel(): Comparison {
  const log = tracing.target("bench");
  const fields = { order: 7, currency: "EUR" };
  installLogging("info");
  return {
    what: "an event below the level",
    contenders: [
      {
        name: "message",
        run: (times) => {
          for (let turn = 0; turn < times; turn += 1) log.debug("turned");
        },
      },
      {
        name: "message and fields",
        run: (times) => {
          for (let turn = 0; turn < times; turn += 1) log.debug("turned", fields);
        },
      },
      {
        name: "message and fresh fields",
        run: (times) => {
          for (let turn = 0; turn < times; turn += 1) log.debug("turned", { turn });
        },
      },
    ],
  };
}
