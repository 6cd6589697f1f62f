/** The steps of the stages after an asynchronous handler. They run as those of native promises do, in one native promise. */
import { Application, Route, Routes } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { array, assert, asyncProperty, constantFrom, option, tuple } from "fast-check";
import { createHook } from "node:async_hooks";
import { get } from "node:http";
import { after } from "../../lib/http/steps.js";
import { rejectionOf } from "../support/rejection-of.js";

type Move = "value" | "promise" | "throws" | "rejects";
type Pair = readonly [done: Move | undefined, failed: Move | undefined];

const MOVE = constantFrom<Move>("value", "promise", "throws", "rejects");
const PAIRS = array(tuple(option(MOVE, { nil: undefined }), option(MOVE, { nil: undefined })), {
  maxLength: 6,
});

/** A callback that records its argument, and then acts. */
function callback(move: Move | undefined, name: string, records: string[]) {
  if (move === undefined) return undefined;
  return (given: unknown): unknown => {
    records.push(`${name}(${String(given)})`);
    if (move === "throws") throw `error of ${name}`;
    if (move === "rejects") return Promise.reject(`error of ${name}`);
    return move === "value" ? name : Promise.resolve(name);
  };
}

/** The records of the callbacks, and the outcome at the end. */
async function recordCallbacks(start: (done: never, failed: never) => Promise<unknown>, pairs: readonly Pair[]) {
  const records: string[] = [];
  const callbacks = pairs.map(([done, failed], index) => [
    callback(done, `done ${index}`, records),
    callback(failed, `failed ${index}`, records),
  ]);
  let promise: Promise<unknown> | undefined = undefined;
  for (const [done, failed] of callbacks)
    promise = promise === undefined ? start(done as never, failed as never) : promise.then(done, failed);
  try {
    records.push(`value ${String(await promise)}`);
  } catch (error) {
    records.push(`error ${String(error)}`);
  }
  return records;
}

const WORKS = [
  ["a value", () => Promise.resolve("work")],
  ["an error", () => Promise.reject("fault")],
] as const;

describe("the steps after a promise", () => {
  for (const [outcome, work] of WORKS)
    it(`call the functions that a chain of native promises calls, with the same values, after ${outcome}`, async () => {
      await assert(
        asyncProperty(
          PAIRS.filter(({ length }) => length > 0),
          async (pairs) => {
            const native = await recordCallbacks((done, failed) => work().then(done, failed), pairs);

            expect(await recordCallbacks((done, failed) => after(work(), done, failed), pairs)).to.deep.equal(native);
          },
        ),
      );
    });

  it("pass the error of the work to an await, and to catch and finally", async () => {
    const failure = new Error("fault");
    const ended: string[] = [];

    expect(await rejectionOf(after(Promise.reject(failure)))).to.equal(failure);
    expect(await after(Promise.reject(failure)).catch((thrown: unknown) => thrown)).to.equal(failure);
    expect(await rejectionOf(after(Promise.reject(failure)).finally(() => ended.push("finally")))).to.equal(failure);
    expect(ended).to.deep.equal(["finally"]);
  });

  it("are called also if they are added after the work has ended", async () => {
    const steps = after(Promise.resolve());
    await new Promise((resolve) => setImmediate(resolve));

    expect(await steps.then(() => "late")).to.equal("late");
  });
});

const ask = (url: string) =>
  new Promise<void>((resolve, reject) => {
    get(url, { agent: false }, (response) => response.resume().on("end", () => setImmediate(resolve))).on(
      "error",
      reject,
    );
  });

/** The promises that the process creates while it handles a request. */
async function promisesDuring(url: string): Promise<number> {
  let created = 0;
  const hook = createHook({ init: (_id, type) => void (type === "PROMISE" && created++) });
  const own = ask(url);
  hook.enable();
  await own;
  hook.disable();
  return created;
}

const REQUESTS = 20;

/** The promises for a request: the minimum of several requests, since other work of the process can only add to them. */
async function promisesFor(url: string): Promise<number> {
  let least = Infinity;
  for (let request = 0; request < REQUESTS; request++) least = Math.min(least, await promisesDuring(url));
  return least;
}

const OF_THE_HANDLER = 1;
const OF_THE_CHAIN = 1;
/** `await own`, and the await of `promisesDuring`. */
const OF_THE_AWAITS = 2;

const text = async (): Promise<string> => "text";
const builder = () => Application.create().routes(new Routes([Route.get("/", text)]));

describe("the chain of an application", () => {
  it("makes one promise for an asynchronous handler, with many stages as with few", async () => {
    await using plain = await testApp(builder());
    await using staged = await testApp(builder().accessLog().metrics().compression().catchPanic().errorMapping());

    expect(await promisesFor(plain.url)).to.equal(OF_THE_HANDLER + OF_THE_CHAIN + OF_THE_AWAITS);
    expect(await promisesFor(staged.url)).to.equal(OF_THE_HANDLER + OF_THE_CHAIN + OF_THE_AWAITS);
  });
});
