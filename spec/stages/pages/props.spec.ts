import { expect } from "chai";
import { UnavailableError } from "../../../lib/errors/framework-error.js";
import type { Context } from "../../../lib/http/request/context.js";
import { Page } from "../../../lib/stages/pages/page.js";
import {
  always,
  deepMerge,
  deferred,
  merge,
  once,
  optional,
  prepend,
  scroll,
} from "../../../lib/stages/pages/props/prop.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { provide } from "../../../lib/di/provide.js";
import { Clock } from "../../../lib/runtime/clock.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { PATIENT } from "../../support/patient.js";
import { until } from "../../support/until.js";
import { inertia, pageIn, pagesApplication, partial, type PageData } from "../../support/page-visit.js";

const PAGE = "links/index";
type Props = Record<string, unknown>;

/** The page object without the members that every page has. */
async function visit(props: () => Props, headers: Record<string, string>): Promise<Record<string, unknown>> {
  await using app = await testApp(pagesApplication(() => Page.of(PAGE, props())));
  const { component, url, version, props: sent, ...rest } = await (await app.get("/", { headers })).json<PageData>();
  const { errors, ...own } = sent;
  expect([component, url, version, errors]).to.deep.equal([PAGE, "/", null, {}]);
  return { props: own, ...rest };
}

const ASKS_ALL = inertia();
const asks = (only?: string, more: Record<string, string> = {}) => partial(PAGE, only, more);
const POSTS = { data: [{ id: 1 }], currentPage: 2, previousPage: 1, nextPage: "c3" };
const SCROLLED = { pageName: "page", previousPage: 1, nextPage: "c3", currentPage: 2, reset: false };

type Row = readonly [
  what: string,
  props: () => Props,
  headers: Record<string, string>,
  expected: Record<string, unknown>,
];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  "a value": [
    ["is sent", () => ({ a: 1, b: null, c: [], d: undefined }), ASKS_ALL, { props: { a: 1, b: null, c: [] } }],
    ["may come from a function", () => ({ a: () => 1 }), ASKS_ALL, { props: { a: 1 } }],
    ["may come from a promise", () => ({ a: Promise.resolve(1) }), ASKS_ALL, { props: { a: 1 } }],
    ["may come from an async function", () => ({ a: async () => 1, b: 2 }), ASKS_ALL, { props: { a: 1, b: 2 } }],
    ["keeps its JSON form", () => ({ a: new Date(0) }), ASKS_ALL, { props: { a: "1970-01-01T00:00:00.000Z" } }],
    [
      "may be a function inside an object",
      () => ({ a: { b: () => 1, c: 2 } }),
      ASKS_ALL,
      { props: { a: { b: 1, c: 2 } } },
    ],
    [
      "may be a function in a result",
      () => ({ a: () => ({ b: async () => 1 }) }),
      ASKS_ALL,
      { props: { a: { b: 1 } } },
    ],
    [
      "has the place of a name with dots",
      () => ({ a: { x: 1 }, "a.b.c": 2 }),
      ASKS_ALL,
      { props: { a: { x: 1, b: { c: 2 } } } },
    ],
    ["is not called unless it is asked for", () => ({ a: 1, b: refuse }), asks("a"), { props: { a: 1 } }],
    [
      "is not called where it is excepted",
      () => ({ a: 1, b: refuse }),
      asks(undefined, { "X-Inertia-Partial-Except": "b" }),
      { props: { a: 1 } },
    ],
  ],
  "a partial reload": [
    [
      "is a visit of the whole page for another component",
      () => ({ a: 1, b: optional(() => 2) }),
      partial("x", "b"),
      { props: { a: 1 } },
    ],
    [
      "sends all props without lists",
      () => ({ a: 1, b: optional(() => 2), c: deferred(() => 3) }),
      asks(),
      { props: { a: 1, b: 2, c: 3 } },
    ],
    ["sends what is named", () => ({ a: 1, b: 2, c: 3 }), asks(" a ,c,a,,"), { props: { a: 1, c: 3 } }],
    ["sends what is below a name", () => ({ a: { b: 1, c: 2 }, d: 3 }), asks("a"), { props: { a: { b: 1, c: 2 } } }],
    [
      "sends the way to a name",
      () => ({ a: { b: { c: 1, d: 2 }, e: 3 }, f: 4 }),
      asks("a.b.c"),
      { props: { a: { b: { c: 1 } } } },
    ],
    ["does not take the start of a name for the way to it", () => ({ a: 1, ab: 2 }), asks("ab"), { props: { ab: 2 } }],
    [
      "removes an excepted path and what is below",
      () => ({ a: { b: { c: 1 }, d: 2 } }),
      asks(undefined, { "X-Inertia-Partial-Except": "a.b" }),
      { props: { a: { d: 2 } } },
    ],
    [
      "lets except win for the same name",
      () => ({ a: 1, b: 2 }),
      asks("a,b", { "X-Inertia-Partial-Except": "a" }),
      { props: { b: 2 } },
    ],
    [
      "lets except win below a name",
      () => ({ a: { b: 1, c: 2 } }),
      asks("a", { "X-Inertia-Partial-Except": "a.b" }),
      { props: { a: { c: 2 } } },
    ],
    [
      "does not filter the result of a function",
      () => ({ a: () => ({ b: 1, c: 2 }) }),
      asks("a.b"),
      { props: { a: { b: 1, c: 2 } } },
    ],
    [
      "does not filter the value of a prop",
      () => ({ a: optional(() => ({ b: 1, c: 2 })) }),
      asks("a.b"),
      { props: { a: { b: 1, c: 2 } } },
    ],
  ],
  always: [
    ["is sent with a whole page", () => ({ a: always(1) }), ASKS_ALL, { props: { a: 1 } }],
    ["is sent where others are named", () => ({ a: always(() => 1), b: 2 }), asks("b"), { props: { a: 1, b: 2 } }],
    [
      "is sent where it is excepted",
      () => ({ a: always(1), b: 2 }),
      asks("a", { "X-Inertia-Partial-Except": "a" }),
      { props: { a: 1 } },
    ],
  ],
  optional: [
    ["is absent from a whole page, unannounced", () => ({ a: optional(refuse), b: 1 }), ASKS_ALL, { props: { b: 1 } }],
    ["is sent where it is named", () => ({ a: optional(() => 1), b: 2 }), asks("a"), { props: { a: 1 } }],
    ["may be what a function returns", () => ({ a: () => optional(refuse), b: 1 }), ASKS_ALL, { props: { b: 1 } }],
    ["is unwrapped from a function", () => ({ a: () => optional(() => 1) }), asks("a"), { props: { a: 1 } }],
  ],
  deferred: [
    [
      "is announced by its group",
      () => ({ a: deferred(refuse), b: deferred(refuse, { group: "slow" }), c: deferred(refuse) }),
      ASKS_ALL,
      { props: {}, deferredProps: { default: ["a", "c"], slow: ["b"] } },
    ],
    [
      "is announced by its path",
      () => ({ a: { b: deferred(refuse) } }),
      ASKS_ALL,
      { props: { a: {} }, deferredProps: { default: ["a.b"] } },
    ],
    [
      "is sent where it is named, without announcement",
      () => ({ a: deferred(() => 1), b: deferred(refuse) }),
      asks("a"),
      { props: { a: 1 } },
    ],
    [
      "is announced where a partial reload is of another page",
      () => ({ a: deferred(refuse) }),
      partial("x", "a"),
      { props: {}, deferredProps: { default: ["a"] } },
    ],
    [
      "is left out and named where it fails and is rescued",
      () => ({ a: deferred(fail, { rescue: true }), b: deferred(() => 2) }),
      asks("a,b"),
      { props: { b: 2 }, rescuedProps: ["a"] },
    ],
    [
      "is rescued where its promise fails",
      () => ({ a: deferred(async () => fail(), { rescue: true }) }),
      asks("a"),
      { props: {}, rescuedProps: ["a"] },
    ],
    [
      "is announced in the order of the declaration",
      () => ({ a: async () => deferred(refuse), b: deferred(refuse) }),
      ASKS_ALL,
      { props: {}, deferredProps: { default: ["a", "b"] } },
    ],
  ],
  merge: [
    ["is marked on a whole page", () => ({ a: merge([1]) }), ASKS_ALL, { props: { a: [1] }, mergeProps: ["a"] }],
    [
      "is marked on a partial reload",
      () => ({ a: merge([1]), b: merge([2]) }),
      asks("a"),
      { props: { a: [1] }, mergeProps: ["a"] },
    ],
    [
      "is marked where the reset is of another component",
      () => ({ a: merge([1]) }),
      partial("other", "a", { "X-Inertia-Reset": "a" }),
      { props: { a: [1] }, mergeProps: ["a"] },
    ],
    [
      "is marked where a whole page is asked for",
      () => ({ a: merge([1]) }),
      inertia({ "X-Inertia-Reset": "a" }),
      { props: { a: [1] }, mergeProps: ["a"] },
    ],
    [
      "has each mark and each key once",
      () => ({ a: merge([1]).append().matchOn("id", "id").matchOn("id"), b: prepend([2]).prepend() }),
      ASKS_ALL,
      { props: { a: [1], b: [2] }, mergeProps: ["a"], prependProps: ["b"], matchPropsOn: ["a.id"] },
    ],
    [
      "is not marked where it is reset",
      () => ({ a: merge([1]).matchOn("id") }),
      asks("a", { "X-Inertia-Reset": "a" }),
      { props: { a: [1] } },
    ],
    [
      "has marks for paths",
      () => ({ a: merge({ x: [], y: [] }) }),
      ASKS_ALL,
      { props: { a: { x: [], y: [] } }, mergeProps: ["a"] },
    ],
    [
      "is not marked on the way to a name",
      () => ({ a: { b: merge([1]) } }),
      asks("a.b"),
      { props: { a: { b: [1] } }, mergeProps: ["a.b"] },
    ],
    ["is marked at the start", () => ({ a: prepend([1]) }), ASKS_ALL, { props: { a: [1] }, prependProps: ["a"] }],
    [
      "is marked at every depth",
      () => ({ a: deepMerge({ b: [1] }).matchOn("b.id") }),
      ASKS_ALL,
      { props: { a: { b: [1] } }, deepMergeProps: ["a"], matchPropsOn: ["a.b.id"] },
    ],
    [
      "is marked with its keys",
      () => ({ a: merge([1]).matchOn("id", "uid") }),
      ASKS_ALL,
      { props: { a: [1] }, mergeProps: ["a"], matchPropsOn: ["a.id", "a.uid"] },
    ],
    [
      "is marked where it is deferred",
      () => ({ a: deferred(refuse).append() }),
      ASKS_ALL,
      { props: {}, deferredProps: { default: ["a"] }, mergeProps: ["a"] },
    ],
    [
      "is marked for lists inside a prop",
      () => ({
        a: once(() => 1)
          .append("x")
          .prepend("y"),
      }),
      ASKS_ALL,
      { props: { a: 1 }, mergeProps: ["a.x"], prependProps: ["a.y"], onceProps: { a: { prop: "a", expiresAt: null } } },
    ],
  ],
  once: [
    [
      "is sent and announced",
      () => ({ a: once(() => 1) }),
      ASKS_ALL,
      { props: { a: 1 }, onceProps: { a: { prop: "a", expiresAt: null } } },
    ],
    [
      "is announced by its key",
      () => ({ a: { b: once(() => 1).once("plans") } }),
      ASKS_ALL,
      { props: { a: { b: 1 } }, onceProps: { plans: { prop: "a.b", expiresAt: null } } },
    ],
    [
      "is withheld if the client has it",
      () => ({ a: once(refuse) }),
      holding("a"),
      { props: {}, onceProps: { a: { prop: "a", expiresAt: null } } },
    ],
    [
      "is withheld by its key",
      () => ({ a: once(refuse).once("k") }),
      holding("k"),
      { props: {}, onceProps: { k: { prop: "a", expiresAt: null } } },
    ],
    [
      "is sent again where it is fresh",
      () => ({ a: once(() => 2).fresh() }),
      holding("a"),
      { props: { a: 2 }, onceProps: { a: { prop: "a", expiresAt: null } } },
    ],
    [
      "is sent to a partial reload that names it",
      () => ({ a: once(() => 1) }),
      asks("a", { "X-Inertia-Except-Once-Props": "a" }),
      { props: { a: 1 }, onceProps: { a: { prop: "a", expiresAt: null } } },
    ],
    [
      "is not announced to a partial reload of others",
      () => ({ a: once(refuse), b: 1 }),
      asks("b"),
      { props: { b: 1 } },
    ],
    [
      "is announced in both ways if it is deferred",
      () => ({ a: deferred(refuse).once() }),
      ASKS_ALL,
      { props: {}, deferredProps: { default: ["a"] }, onceProps: { a: { prop: "a", expiresAt: null } } },
    ],
    [
      "is not fetched if it is deferred and the client has it",
      () => ({ a: deferred(refuse).once() }),
      holding("a"),
      { props: {}, onceProps: { a: { prop: "a", expiresAt: null } } },
    ],
  ],
  scroll: [
    [
      "is announced with its pages",
      () => ({ posts: scroll(POSTS) }),
      ASKS_ALL,
      { props: { posts: POSTS }, mergeProps: ["posts.data"], scrollProps: { posts: SCROLLED } },
    ],
    [
      "has null for a page that is missing",
      () => ({ posts: scroll({ data: [], currentPage: 1 }, { pageName: "p" }) }),
      ASKS_ALL,
      {
        props: { posts: { data: [], currentPage: 1 } },
        mergeProps: ["posts.data"],
        scrollProps: { posts: { pageName: "p", previousPage: null, nextPage: null, currentPage: 1, reset: false } },
      },
    ],
    [
      "is merged at the start on request",
      () => ({ posts: scroll(() => POSTS) }),
      asks("posts", { "X-Inertia-Infinite-Scroll-Merge-Intent": "prepend" }),
      { props: { posts: POSTS }, prependProps: ["posts.data"], scrollProps: { posts: SCROLLED } },
    ],
    [
      "is merged at the end by any other intent",
      () => ({ posts: scroll(() => POSTS) }),
      asks("posts", { "X-Inertia-Infinite-Scroll-Merge-Intent": "append" }),
      { props: { posts: POSTS }, mergeProps: ["posts.data"], scrollProps: { posts: SCROLLED } },
    ],
    [
      "is reset by its path, without marks",
      () => ({ posts: scroll(POSTS).matchOn("id") }),
      asks("posts", { "X-Inertia-Reset": "posts" }),
      { props: { posts: POSTS }, scrollProps: { posts: { ...SCROLLED, reset: true } } },
    ],
    [
      "is not reset for another component",
      () => ({ posts: scroll(POSTS) }),
      partial("other", "posts", { "X-Inertia-Reset": "posts" }),
      { props: { posts: POSTS }, mergeProps: ["posts.data"], scrollProps: { posts: SCROLLED } },
    ],
    [
      "has its keys below the list",
      () => ({ posts: scroll(POSTS).matchOn("id") }),
      ASKS_ALL,
      {
        props: { posts: POSTS },
        mergeProps: ["posts.data"],
        matchPropsOn: ["posts.data.id"],
        scrollProps: { posts: SCROLLED },
      },
    ],
    [
      "says nothing of its pages while it is deferred",
      () => ({ posts: scroll(refusePage, { defer: true }) }),
      ASKS_ALL,
      { props: {}, mergeProps: ["posts.data"], deferredProps: { default: ["posts"] } },
    ],
  ],
};

async function slow(): Promise<number> {
  await new Promise(setImmediate);
  return 1;
}

function refuse(): never {
  throw new Error("a function was called that this answer does not need");
}

function refusePage(): typeof POSTS {
  return refuse();
}

function fail(): never {
  throw new Error("the numbers are not there");
}

function holding(keys: string): Record<string, string> {
  return inertia({ "X-Inertia-Except-Once-Props": keys });
}

for (const [kind, rows] of Object.entries(ROWS)) {
  describe(`a prop of a page: ${kind}`, () => {
    for (const [what, props, headers, expected] of rows) {
      it(`${what} (${kind})`, async () => expect(await visit(props, headers)).to.deep.equal(expected));
    }
  });
}

describe("props", () => {
  it("are written in the order of the declaration", async () => {
    await using app = await testApp(pagesApplication(() => Page.of(PAGE, { a: slow, b: 2, c: async () => 3 })));

    const text = await (await app.get("/", { headers: inertia() })).text();

    expect(text).to.contain('"props":{"errors":{},"a":1,"b":2,"c":3}');
  });

  it("are computed at the same time", async () => {
    let waiting = 0;
    let release: (() => void) | undefined;
    const all = new Promise<void>((resolve) => (release = resolve));
    const meet = async () => (++waiting === 3 && release?.(), await all, waiting);
    await using app = await testApp(pagesApplication(() => Page.of(PAGE, { a: meet, b: meet, c: { d: meet } })));

    const { props } = await (await app.get("/", { headers: inertia() })).json<PageData>();

    expect(props).to.deep.include({ a: 3, b: 3, c: { d: 3 } });
  });

  it("get the context, whose signal ends the wait", async () => {
    const clock = new FakeClock();
    const signals: AbortSignal[] = [];
    const never = ({ signal }: Context) => new Promise(() => void signals.push(signal));
    const limited = pagesApplication(
      () => Page.of(PAGE, { never }),
      {},
      (builder) => builder.timeout(1000).provide(provide(Clock).useValue(clock)),
    );
    await using app = await testApp(limited);

    const answer = app.get("/", { headers: inertia() });
    await until(() => signals.length > 0);
    clock.advance(1000);

    expect((await answer).status).to.equal(408);
    expect(signals[0]?.aborted).to.equal(true);
  });

  it("learn through the signal that the client has left", async () => {
    const signals: AbortSignal[] = [];
    const never = ({ signal }: Context) => new Promise(() => void signals.push(signal));
    await using app = await testApp(pagesApplication(() => Page.of(PAGE, { never })));
    const leaving = new AbortController();

    const answer = app.get("/", { headers: inertia(), signal: leaving.signal }).catch(() => "left");
    await until(() => signals.length > 0);
    leaving.abort();

    expect(await answer).to.equal("left");
    await until(() => signals[0]?.aborted === true);
    expect(signals[0]?.reason).to.have.property("code", "E_CLIENT_GONE");
  });

  const failures: readonly (readonly [string, unknown, number])[] = [
    ["throws an error with a status", () => Promise.reject(new UnavailableError("no numbers")), 503],
    ["throws at once", () => fail(), 500],
    ["throws later", async () => fail(), 500],
    ["is a rejected promise", undefined, 500],
    ["is a BigInt", 1n, 500],
    ["has a cycle", cyclic(), 500],
    ["holds a promise in a list", [Promise.resolve(1)], 500],
    ["is a scroll prop without a list", scroll({} as never), 500],
    ["makes props for ever", endless, 500],
    ["is deferred and is not rescued", deferred(fail), 500],
  ];
  for (const [what, prop, status] of failures) {
    it(`fail the page like a handler where one ${what}`, async () => {
      const made = () =>
        Page.of(PAGE, { a: 1, prop: what.startsWith("is a rejected") ? Promise.reject(new Error("x")) : prop });
      await using app = await testApp(pagesApplication(made, {}, (builder) => builder.catchPanic()));

      const headers = prop === undefined || typeof prop === "object" ? asks("prop") : inertia();
      const response = await app.get("/", { headers });

      expect(response.status).to.equal(status);
      expect(response.headers.get("content-type")).to.equal("application/problem+json");
      expect([response.headers.get("x-inertia"), response.headers.get("cache-control")]).to.deep.equal([null, null]);
    });
  }

  it("report a rescued failure in the log", async () => {
    await using app = await testApp(pagesApplication(() => Page.of(PAGE, { a: deferred(fail, { rescue: true }) })));

    await app.get("/", { headers: asks("a") });

    expect(app.logs.transcript())
      .to.contain('"message":"deferred prop failed"')
      .and.contain("the numbers are not there");
  });

  it("keep a once prop until its time, by the application's clock", async () => {
    const clock = new FakeClock();
    const timed = pagesApplication(
      () => Page.of(PAGE, { a: once(() => 1).until(60) }),
      {},
      (builder) => builder.provide(provide(Clock).useValue(clock)),
    );
    await using app = await testApp(timed);

    const { onceProps } = await (await app.get("/", { headers: inertia() })).json<PageData>();

    expect(onceProps).to.deep.equal({ a: { prop: "a", expiresAt: clock.now() + 60_000 } });
  });

  it("are in every document, with any headers", async () => {
    await using app = await testApp(pagesApplication(() => Page.of(PAGE, { a: once(() => 1) })));

    const html = await (await app.get("/", { headers: { "X-Inertia-Except-Once-Props": "a" } })).text();

    expect(pageIn(html).props).to.have.property("a", 1);
  });

  it("may be named as the members of every object", async () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":2,"hasOwnProperty":3}') as Props;
    const options = { share: { ...hostile, team: "red" } };
    await using app = await testApp(pagesApplication(() => Page.of(PAGE, { ...hostile, data: hostile }), options));

    const { props } = await (await app.get("/", { headers: inertia() })).json<PageData>();

    expect(props).to.include({ constructor: 2, hasOwnProperty: 3, team: "red" });
    expect(({} as Props)["polluted"]).to.equal(undefined);
  });
});

function cyclic(): Props {
  const value: Props = { a: 1 };
  value["self"] = value;
  return value;
}

function endless(): unknown {
  return (
    optional(() => endless() as never)
      .once()
      .fresh() && always(() => endless() as never)
  );
}

describe("the lists of a page request", () => {
  const many = Array.from({ length: 65 }, (_, at) => `p${at}`).join(",");
  const long = `a,${"x".repeat(8192)}`;
  for (const name of ["X-Inertia-Partial-Data", "X-Inertia-Partial-Except", "X-Inertia-Reset"]) {
    for (const [what, list] of [
      ["too many names", many],
      ["too many bytes", long],
    ] as const) {
      it(`are refused with ${what}: ${name}`, async () => {
        let calls = 0;
        await using app = await testApp(pagesApplication(() => (calls++, Page.of(PAGE))));

        const response = await app.get("/", { headers: asks(undefined, { [name]: list }) });

        expect([response.status, calls]).to.deep.equal([400, 0]);
      });
    }
  }

  it("hold up to 64 different names", async () => {
    const names = Array.from({ length: 64 }, (_, at) => `p${at}`).join(",");
    await using app = await testApp(pagesApplication(() => Page.of(PAGE, { p63: 1 })));

    const response = await app.get("/", { headers: asks(`${names},${names}`) });

    expect((await response.json<PageData>()).props).to.have.property("p63", 1);
  });

  it("ignore the names of known once props beyond the bounds", async () => {
    expect(await visit(() => ({ p64: once(() => 1), p63: once(refuse) }), holding(many))).to.have.deep.property(
      "props",
      { p64: 1 },
    );
    // The bound cuts this name to the one of another prop.
    const cut = `${"y".repeat(8190)},ab`;
    expect(await visit(() => ({ a: once(() => 1) }), holding(cut))).to.have.deep.property("props", { a: 1 });
  });

  it("are refused with a bag that is too long", async () => {
    await using app = await testApp(pagesApplication(() => Page.of(PAGE)));

    const response = await app.get("/", { headers: inertia({ "X-Inertia-Error-Bag": "b".repeat(129) }) });

    expect(response.status).to.equal(400);
  });

  it("are refused by the parser beyond the size of a head", async () => {
    await using app = await testApp(pagesApplication(() => Page.of(PAGE)));

    const head = `GET / HTTP/1.1\r\nHost: x\r\nX-Inertia: true\r\nX-Inertia-Partial-Data: ${"x".repeat(100_000)}\r\n\r\n`;

    expect((await app.raw(head, PATIENT)).toString()).to.match(/^HTTP\/1\.1 431 /);
  });
});
