/** Props that fail, have no end, or are nested in each other: an answer is right or an error, and the process goes on. */
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { Page } from "../../../lib/stages/pages/page.js";
import { deferred, once, optional } from "../../../lib/stages/pages/props/prop.js";
import { share } from "../../../lib/stages/pages/props/shared-props.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { inertia, pagesApplication, partial, type PageData } from "../../support/page-visit.js";
import { unhandledDuring } from "../../support/unhandled-during.js";

const PAGE = "links/index";
type Props = Record<string, unknown>;

async function visit(props: () => Props, headers = inertia()): Promise<PageData> {
  await using app = await testApp(pagesApplication(() => Page.of(PAGE, props())));
  return (await app.get("/", { headers })).json<PageData>();
}

const failing = (): Promise<never> => Promise.reject(new Error("no numbers"));
const throwing = (): never => {
  throw new Error("no numbers");
};
const node = (): Props => {
  const self: Props = { name: "root" };
  return Object.assign(self, { left: self, right: { up: self, also: self } });
};
/** Resolves when other work has run. */
const later = async <T>(value: T): Promise<T> => {
  await turn();
  await turn();
  return value;
};

describe("a promise among the props that fails", () => {
  const unawaited: readonly (readonly [string, () => Props, Record<string, string>])[] = [
    ["is not asked for", () => ({ a: 1, b: failing() }), partial(PAGE, "a")],
    ["is excepted", () => ({ a: 1, b: failing() }), partial(PAGE, undefined, { "X-Inertia-Partial-Except": "b" })],
    ["is a member of an object that is not asked for", () => ({ a: 1, b: { c: failing() } }), partial(PAGE, "a")],
    ["is deferred", () => ({ a: 1, b: deferred(failing()) }), inertia()],
    ["is optional", () => ({ a: 1, b: optional(failing()) }), inertia()],
    ["is held", () => ({ a: 1, b: once(failing()) }), inertia({ "X-Inertia-Except-Once-Props": "b" })],
    ["is the promise of a name with dots", () => ({ a: 1, "b.c": failing() }), partial(PAGE, "a")],
  ];
  for (const [what, props, headers] of unawaited) {
    it(`does not end the process where it ${what}`, async () => {
      const stray = await unhandledDuring(async () => {
        expect((await visit(props, headers)).props).to.deep.equal({ errors: {}, a: 1 });
        await turn();
      });

      expect(stray).to.deep.equal([]);
    });
  }

  it("does not end the process behind a prop that throws, at any depth", async () => {
    const pages = [
      () => Page.of(PAGE, { a: throwing, b: failing() }),
      () => Page.of(PAGE, { made: () => ({ a: throwing, b: failing() }) }),
    ];
    for (const made of pages) {
      await using app = await testApp(pagesApplication(made));
      const stray = await unhandledDuring(async () => {
        expect((await app.get("/", { headers: inertia() })).status).to.equal(500);
        await turn();
      });

      expect(stray).to.deep.equal([]);
    }
  });

  it("does not end the process where a middleware shares it and no page is sent", async () => {
    const sharing = pagesApplication((ctx) => {
      share(ctx, { b: failing() });
      return { no: "page" };
    });
    await using app = await testApp(sharing);
    const stray = await unhandledDuring(async () => {
      expect((await app.get("/")).status).to.equal(200);
      await turn();
    });

    expect(stray).to.deep.equal([]);
  });
});

describe("a prop that comes from another one", () => {
  it("is awaited, however late its function is found", async () => {
    const inner = { c: async () => later({ d: async () => later(4) }) };

    const { props } = await visit(() => ({ a: async () => later({ b: async () => later(inner) }), e: () => later(5) }));

    expect(props).to.deep.equal({ errors: {}, a: { b: { c: { d: 4 } } }, e: 5 });
  });

  it("fails the page where its function is found late and throws", async () => {
    await using app = await testApp(pagesApplication(() => Page.of(PAGE, { a: async () => later({ b: failing }) })));

    expect((await app.get("/", { headers: inertia() })).status).to.equal(500);
  });

  it("is called behind a large table of data, and inside one", async () => {
    const table = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`k${at}`, { at }]));

    const { props } = await visit(() => ({ table, counts: { total: () => 5 }, whole: { ...table, last: () => 6 } }));

    expect(props["counts"]).to.deep.equal({ total: 5 });
    expect(props["whole"]).to.have.property("last", 6);
  });
});

describe("a prop without an end", () => {
  const branching = (): unknown => ({ left: branching, right: branching });
  const branchingLater = async (): Promise<unknown> => ({ left: branchingLater, right: branchingLater });

  for (const [what, prop, headers] of [
    ["holds itself", node(), partial(PAGE, "prop")],
    ["holds itself, and a path in it is asked for", node(), partial(PAGE, "prop.left.name")],
    [
      "holds itself, and another prop is excepted",
      node(),
      partial(PAGE, undefined, { "X-Inertia-Partial-Except": "x" }),
    ],
    ["holds itself and a function", () => ({ ...node(), made: () => 1 }), inertia()],
    [
      "holds itself and a function that is waited for",
      () => Object.assign(node(), { made: () => later(1) }),
      inertia(),
    ],
    ["makes functions for ever", branching, inertia()],
    ["makes functions for ever, each later", branchingLater, inertia()],
    ["makes a function", () => () => 1, inertia()],
  ] as const) {
    it(`fails the page where it ${what}`, async () => {
      await using app = await testApp(
        pagesApplication(
          () => Page.of(PAGE, { prop }),
          {},
          (b) => b.catchPanic(),
        ),
      );

      const response = await app.get("/", { headers });

      expect([response.status, response.headers.get("content-type")]).to.deep.equal([500, "application/problem+json"]);
    });
  }
});

describe("the names of props, keys and groups", () => {
  it("may be those of a member of every object", async () => {
    const page = await visit(() => ({
      a: deferred(() => 1, { group: "constructor" }),
      b: deferred(() => 2, { group: "__proto__" }),
      c: once(() => 3).once("__proto__"),
      toJSON: () => 4,
    }));

    expect(page.props).to.deep.equal({ errors: {}, c: 3, toJSON: 4 });
    expect(Object.entries(page["deferredProps"] as Props)).to.deep.equal([
      ["constructor", ["a"]],
      ["__proto__", ["b"]],
    ]);
    expect(Object.entries(page["onceProps"] as Props)).to.deep.equal([["__proto__", { prop: "c", expiresAt: null }]]);
  });
});
