/** Numbers as texts, in each part of a request that has texts: a number is exact, or it is a 422. */
import { type } from "arktype";
import { expect } from "chai";
import { z } from "zod";
import { Application, content, Get, Post, provide, Route, Routes, type Schema } from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { Uploads } from "@stagecraft/framework/uploads";
import { formBytes, FORM_TYPE } from "../support/multipart.js";

type Fields = Schema<unknown, { readonly n: number }>;

function listRoutes(kind: string, n: Schema<unknown, number>, fields: Fields): readonly Route[] {
  return [
    Route.of(Get(`/${kind}/query`, { query: fields }), ({ input }) => input.query.n),
    Route.of(Get(`/${kind}/headers`, { headers: fields }), ({ input }) => input.headers.n),
    Route.of(Get(`/${kind}/capture/{n}`, { params: { n } }), ({ params }) => params.n),
    Route.of(Post(`/${kind}/form`, { body: content.form(fields) }), ({ input }) => input.body.n),
    Route.of(Post(`/${kind}/upload`, { body: content.multipart(fields, {}) }), ({ input }) => input.body.n),
  ];
}

const routes = new Routes([
  ...listRoutes("integer", z.int(), z.object({ n: z.int() })),
  ...listRoutes("number", z.number(), z.object({ n: z.number() })),
  ...listRoutes("arktype", type("number.integer"), type({ n: "number.integer" })),
  ...listRoutes("coerced", z.coerce.number(), z.object({ n: z.coerce.number() })),
]);

function start(): Promise<TestApp> {
  const uploads = provide(Uploads).useFactory(() => new Uploads());
  return testApp(Application.create().provide(uploads).routes(routes));
}

const PARTS: Readonly<Record<string, (app: TestApp, kind: string, text: string) => Promise<Response>>> = {
  query: (app, kind, text) => app.get(`/${kind}/query?n=${encodeURIComponent(text)}`),
  headers: (app, kind, text) => app.get(`/${kind}/headers`, { headers: { n: text } }),
  capture: (app, kind, text) => app.get(`/${kind}/capture/${encodeURIComponent(text)}`),
  form: (app, kind, text) => app.post(`/${kind}/form`, { form: { n: text } }),
  upload: (app, kind, text) => {
    const body = new Uint8Array(formBytes({ name: "n", content: text }));
    return app.post(`/${kind}/upload`, { body, headers: { "content-type": FORM_TYPE } });
  },
};

/** The value of each kind; `undefined` for a 422. */
const ROWS: readonly (readonly [text: string, integer: number | undefined, number: number | undefined])[] = [
  ["0", 0, 0],
  ["-0", 0, 0],
  ["-7", -7, -7],
  ["9007199254740991", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ["9007199254740993", undefined, undefined],
  ["-9007199254740993", undefined, undefined],
  ["1.5", undefined, 1.5],
  ["1e3", undefined, 1000],
  ["52.520006599999995", undefined, 52.520006599999995],
  ["0.30000000000000004", undefined, 0.30000000000000004],
  ["0.3333333333333333", undefined, 0.3333333333333333],
  ["3.333333333333333e-1", undefined, 0.3333333333333333],
  ["5e-324", undefined, 5e-324],
  ["1e+21", undefined, 1e21],
  ["100000000000000000000", undefined, 1e20],
  ["0.30000000000000005", undefined, undefined],
  ["0.33333333333333333", undefined, undefined],
  ["1e-400", undefined, undefined],
  ["1e999", undefined, undefined],
  ["-1e999", undefined, undefined],
  ["0.1234567890123456789", undefined, undefined],
  ["NaN", undefined, undefined],
  ["Infinity", undefined, undefined],
  ["-Infinity", undefined, undefined],
  ["", undefined, undefined],
  [" 1", undefined, undefined],
  ["1 ", undefined, undefined],
  ["1\n", undefined, undefined],
  ["0x10", undefined, undefined],
  ["0b1", undefined, undefined],
  ["0o7", undefined, undefined],
  ["1_000", undefined, undefined],
  ["1,000", undefined, undefined],
  ["1n", undefined, undefined],
  ["+1", undefined, undefined],
  ["01", undefined, undefined],
  ["1.", undefined, undefined],
  [".5", undefined, undefined],
  ["--1", undefined, undefined],
  ["true", undefined, undefined],
  ["null", undefined, undefined],
  ["[1]", undefined, undefined],
  ["1".repeat(5000), undefined, undefined],
];

/** The parts that can have the text: HTTP takes spaces off the ends of a header, and a capture is never empty. */
function listParts(text: string): readonly string[] {
  const names = Object.keys(PARTS);
  if (text === "") return names.filter((name) => name !== "capture");
  return text.trim() === text ? names : names.filter((name) => name !== "headers");
}

async function readEach(app: TestApp, kind: string, text: string): Promise<Readonly<Record<string, unknown>>> {
  const read = listParts(text).map(async (part) => {
    const response = await PARTS[part]?.(app, kind, text);
    return [part, response?.status === 200 ? await response.json() : response?.status] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

describe("a number in a text", () => {
  let app: TestApp;
  before(async () => {
    app = await start();
  });
  after(() => app.stop());

  for (const [text, integer, number] of ROWS) {
    const title = JSON.stringify(text.slice(0, 24));
    const expectEach = async (kind: string, value: number | undefined): Promise<void> => {
      const expected = Object.fromEntries(listParts(text).map((part) => [part, value ?? 422]));
      expect(await readEach(app, kind, text)).to.deep.equal(expected);
    };

    it(`${title} is ${String(integer ?? "refused")} as an integer of zod and of arktype, in each part`, async () => {
      await expectEach("integer", integer);
      await expectEach("arktype", integer);
    });

    it(`${title} is ${String(number ?? "refused")} as a number, in each part`, () => expectEach("number", number));
  }

  it("is not guessed by a schema that coerces", async () => {
    for (const text of ["", " 1", "0x10", "NaN", "9007199254740993", "1e999"])
      expect(Object.values(await readEach(app, "coerced", text)), text).to.satisfy((statuses: readonly unknown[]) =>
        statuses.every((status) => status === 422),
      );
  });

  it("is one list or one value: a repeated name is refused", async () => {
    expect((await app.get("/integer/query?n=1&n=2")).status).to.equal(422);
    expect((await app.get("/integer/query?n[]=1")).status).to.equal(422);
    expect((await app.get("/integer/query?n[a]=1")).status).to.equal(422);
  });
});
