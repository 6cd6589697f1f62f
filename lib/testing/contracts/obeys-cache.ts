/**
 * The contract of every `Cache`, as a suite of promises that any driver passes. Each promise uses other keys, so one store serves all of
 * them.
 *
 * @example
 * it("obeys the contract of a cache", () => obeysCache(cache, { pass: (ms) => clock.advance(ms) }));
 */
import { type Cache } from "../../cache/cache.js";
import { checkPromises, type ContractPromise, getCode } from "./contract.js";

export interface CacheContractOptions {
  /** Lets `ms` milliseconds pass: advances the clock of the test, or waits. */
  readonly pass: (ms: number) => unknown;
  /** A second cache over the same store, as another instance of the application has it. */
  readonly other?: Cache;
}

const HOUR_MS = 3_600_000;
const SHORT_MS = 300;

interface CacheTrial {
  readonly cache: Cache;
  readonly other: Cache;
  readonly pass: (ms: number) => unknown;
  /** A key that no other promise uses. */
  readonly key: (name?: string) => string;
  readonly equal: (actual: unknown, expected: unknown, what: string) => void;
}

/** @throws AssertionError listing every promise that the cache breaks. The cache is started, and stays so. */
export async function obeysCache(cache: Cache, options: CacheContractOptions): Promise<void> {
  const { pass, other = cache } = options;
  const run = Math.random().toString(36).slice(2);
  const verdict = `${cache.constructor.name} does not obey the contract of a cache`;
  await checkPromises(verdict, PROMISES, (keeps, { promise, equal }) => {
    const key = (name = "key"): string => `contract:${run}:${promise}:${name}`;
    return keeps({ cache, other, pass, key, equal });
  });
}

const STRANGE_NAMES: readonly string[] = [
  "a",
  "A",
  "a\0",
  "a\0b",
  "a b",
  " a",
  "a\r\nb",
  "a*",
  "{a}",
  '["a"]',
  "\\",
  "__proto__",
  "constructor",
  "\u00e9",
  "e\u0301",
  "\u{1F600}",
  "\ufffd",
  "1e3",
  "1000",
];

const PROMISES: readonly ContractPromise<CacheTrial>[] = [
  [
    "a value is read as it was written",
    async ({ cache, key, equal }) => {
      for (const value of [null, false, 0, "", "text \u0000 \u{1F600}", [], { a: [1, { b: null }] }]) {
        await cache.set(key(), value, HOUR_MS);
        equal(await cache.get(key()), value, "the value");
      }
      equal(await cache.remember(key("computed"), HOUR_MS, () => ({ a: [1] })), { a: [1] }, "a computed value");
    },
  ],
  [
    "a value cannot be changed by a reader",
    async ({ cache, key, equal }) => {
      await cache.set(key(), { list: [1] }, HOUR_MS);
      const value = await cache.get<{ list: number[] }>(key());
      equal(
        [value !== undefined && Object.isFrozen(value), Object.isFrozen(value?.list)],
        [true, true],
        "the frozen state",
      );
    },
  ],
  [
    "a missing value is undefined, and deleting it returns false",
    async ({ cache, key, equal }) => {
      equal((await cache.get(key())) === undefined, true, "whether it is missing");
      equal(await cache.delete(key()), false, "the deletion");
      await cache.set(key(), 1, HOUR_MS);
      equal(await cache.delete(key()), true, "the deletion of a value");
      equal((await cache.get(key())) === undefined, true, "whether the deleted value is missing");
    },
  ],
  [
    "a value ends with its time to live",
    async ({ cache, key, equal, pass }) => {
      await cache.set(key(), 1, SHORT_MS);
      await pass(SHORT_MS + 50);
      equal((await cache.get(key())) === undefined, true, "whether it has ended");
    },
  ],
  [
    "a value that JSON cannot keep, a wrong lifetime and a wrong key are refused",
    async ({ cache, key, equal }) => {
      const cycle: unknown[] = [];
      cycle.push(cycle);
      const lost = [() => 1, 1n, Symbol("s"), NaN, Infinity, new Date(0), new Map([[1, 2]]), cycle];
      const values = [undefined, [undefined], ...lost, ...lost.map((each) => ({ a: [each] }))];
      for (const [at, value] of values.entries()) {
        equal(await getCode(cache.set(key(), value, HOUR_MS)), "E_CACHE_VALUE", "the code of a value");
        const remembered = cache.remember(key(`computed ${at}`), HOUR_MS, () => value);
        equal(await getCode(remembered), "E_CACHE_VALUE", "the code of a computed value");
      }
      for (const ttl of [0, -1, 1.5, NaN, Infinity]) {
        equal(await getCode(cache.set(key(), 1, ttl)), "E_CACHE_TTL", "the code of a lifetime");
      }
      for (const name of ["", "x".repeat(1025), "half \ud800"]) {
        equal(await getCode(cache.get(name)), "E_CACHE_KEY", "the code of a key");
        equal(await getCode(cache.set(key(), 1, HOUR_MS, { tags: [name] })), "E_CACHE_KEY", "the code of a tag");
      }
    },
  ],
  [
    "keys and tags of any text are distinct",
    async ({ cache, other, key, equal }) => {
      const names = STRANGE_NAMES.map((name) => key(name));
      const keys = [...names, key("").padEnd(1024, "x"), key("").padEnd(1024, "y")];
      for (const each of keys) await cache.set(each, each, HOUR_MS, { tags: [each] });
      const read = (): Promise<unknown[]> => Promise.all(keys.map((each) => other.get(each)));
      equal(await read(), keys, "the values");
      for (const [at, each] of keys.entries()) {
        await other.invalidate(each);
        equal((await read()).slice(at), [undefined, ...keys.slice(at + 1)], "the values after an invalidation");
      }
    },
  ],
  [
    "remember computes a missing value once, also for callers of another instance",
    async ({ cache, other, key, equal }) => {
      let computations = 0;
      const make = async (): Promise<number> => {
        await new Promise((resolve) => setImmediate(resolve));
        return ++computations;
      };
      const calls = Array.from({ length: 50 }, (_each, index) =>
        (index % 2 === 0 ? cache : other).remember(key(), HOUR_MS, make),
      );
      equal(new Set(await Promise.all(calls)).size, 1, "the number of different values");
      equal(computations, 1, "the number of computations");
      equal(await other.get(key()), 1, "the stored value");
    },
  ],
  [
    "a failing computation runs once for all waiting callers, and again later",
    async ({ cache, key, equal, pass }) => {
      let computations = 0;
      const fail = async (): Promise<never> => {
        computations += 1;
        throw new Error("no value today");
      };
      const calls = Array.from({ length: 50 }, () => cache.remember(key(), HOUR_MS, fail).catch(String));
      equal(new Set(await Promise.all(calls)).size, 1, "the number of different errors");
      equal(computations, 1, "the number of computations");
      await pass(200);
      equal(await cache.remember(key(), HOUR_MS, () => "later"), "later", "the later value");
    },
  ],
  [
    "a stale value is returned while a new one is computed",
    async ({ cache, key, equal, pass }) => {
      const options = { staleMs: HOUR_MS };
      await cache.remember(key(), SHORT_MS, () => "old", options);
      await pass(SHORT_MS + 50);
      equal(await cache.remember(key(), SHORT_MS, () => "new", options), "old", "the value while it is stale");
      for (let attempt = 0; attempt < 200 && (await cache.get(key())) !== "new"; attempt++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      equal(await cache.get(key()), "new", "the value afterwards");
    },
  ],
  [
    "a tag ends the values that have it, and no others",
    async ({ cache, other, key, equal }) => {
      await cache.set(key("a"), 1, HOUR_MS, { tags: [key("red"), key("blue")] });
      await cache.set(key("b"), 2, HOUR_MS, { tags: [key("blue")] });
      await cache.set(key("c"), 3, HOUR_MS);
      await other.invalidate(key("red"));
      const left = await Promise.all([cache.get(key("a")), cache.get(key("b")), cache.get(key("c"))]);
      equal(left, [undefined, 2, 3], "the values");
      await cache.set(key("a"), 4, HOUR_MS, { tags: [key("red")] });
      equal(await cache.get(key("a")), 4, "a value that is stored later");
    },
  ],
  [
    "a tag of a later caller ends a value as well, also after the value was computed again",
    async ({ cache, other, key, equal, pass }) => {
      const remember = (from: Cache, tag: string, make: () => string): Promise<string> =>
        from.remember(key(), SHORT_MS, make, { tags: [key(tag)], staleMs: HOUR_MS });
      for (const tag of ["first", "later"]) {
        await remember(cache, "first", () => "old");
        equal(await remember(other, "later", () => "not asked"), "old", "the value of the later caller");
        await other.invalidate(key(tag));
        equal(await remember(cache, "first", () => "new"), "new", `the value after an invalidation of the ${tag} tag`);
        await cache.delete(key());
      }
      await remember(cache, "first", () => "old");
      await remember(other, "later", () => "not asked");
      await pass(SHORT_MS + 50);
      await remember(cache, "first", () => "computed again");
      for (let attempt = 0; attempt < 200 && (await cache.get(key())) !== "computed again"; attempt++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await other.invalidate(key("later"));
      equal((await cache.get(key())) ?? null, null, "the value that was computed again");
    },
  ],
  ...(["invalidated", "deleted", "written"] as const).map(
    (change) =>
      [
        `a value that was being computed while its key was ${change} is not stored`,
        async ({ cache, other, key, equal }: CacheTrial) => {
          const options = { tags: [key("tag")] };
          const old = cache.remember(
            key(),
            HOUR_MS,
            async () => {
              if (change === "invalidated") await other.invalidate(key("tag"));
              else if (change === "deleted") await other.delete(key());
              else await other.set(key(), "written", HOUR_MS);
              return "old";
            },
            options,
          );
          equal(await old, "old", "the value of the computation");
          const expected = change === "written" ? "written" : undefined;
          equal((await cache.get(key())) ?? null, expected ?? null, "the stored value");
          const later = await cache.remember(key(), HOUR_MS, () => "new", options);
          equal(later, expected ?? "new", "the value of a later caller");
        },
      ] as const,
  ),
  [
    "a caller that gives up does not end the computation of the others",
    async ({ cache, key, equal }) => {
      const firstCaller = new AbortController();
      const release = new AbortController();
      const gate = new Promise<void>((resolve) => release.signal.addEventListener("abort", () => resolve()));
      const remember = (signal?: AbortSignal): Promise<unknown> =>
        cache.remember(key(), HOUR_MS, () => gate.then(() => "computed"), signal === undefined ? {} : { signal });
      const first = remember(firstCaller.signal).catch((error: unknown) => (error as Error).name);
      const second = remember();
      firstCaller.abort();
      equal(await first, "AbortError", "the result of the caller that gave up");
      release.abort();
      equal(await second, "computed", "the result of the other caller");
    },
  ],
];
