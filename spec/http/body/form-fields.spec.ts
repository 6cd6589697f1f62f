import { expect } from "chai";
import * as fc from "fast-check";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import type { Context } from "../../../lib/http/request/context.js";
import { nestFields } from "../../../lib/http/body/form-fields.js";
import { Stack } from "../../support/stack.js";

/** A query, and its fields as JSON. */
const READ: readonly (readonly [string, string])[] = [
  ["a=1&b=x+y", '{"a":"1","b":"x y"}'],
  ["a=1&a=2", '{"a":["1","2"]}'],
  ["a[]=1", '{"a":["1"]}'],
  ["a[]=2&a[]=1", '{"a":["2","1"]}'],
  ["files[0]=x&files[1]=y", '{"files":["x","y"]}'],
  ["a[7]=z&a[0]=x&a[2]=y", '{"a":["x","y","z"]}'],
  ["a[999999999]=x", '{"a":["x"]}'],
  ["a[]=last&a[1]=second&a[0]=first", '{"a":["first","second","last"]}'],
  ["a[0]=1&a[00]=2", '{"a":[["1","2"]]}'],
  ["a[b]=1&a[c]=2", '{"a":{"b":"1","c":"2"}}'],
  ["a[b]=1&a[b]=2", '{"a":{"b":["1","2"]}}'],
  ["a[b][]=1&a[b][]=2&a[c][d]=3", '{"a":{"b":["1","2"],"c":{"d":"3"}}}'],
  ["rows[0][a]=1&rows[0][b]=2&rows[1][a]=3", '{"rows":[{"a":"1","b":"2"},{"a":"3"}]}'],
  ["rows[][a]=1&rows[][b]=2&rows[][a]=3&rows[][b]=4", '{"rows":[{"a":"1","b":"2"},{"a":"3","b":"4"}]}'],
  ["rows[][a][]=1&rows[][a][]=2&rows[][b]=3", '{"rows":[{"a":["1","2"],"b":"3"}]}'],
  ["rows[][]=1&rows[][]=2", '{"rows":[["1","2"]]}'],
  ["a%5Bb%5D=1", '{"a":{"b":"1"}}'],
  ["a[1][2][3][4][5][6][7][8]=x", '{"a":[[[[[[[["x"]]]]]]]]}'],
  // Names with brackets that are not balanced, and with dots, mean themselves.
  ["a[b=1&[c]=2&a[b]c=3&d]=4&e.f=5&g[h[i]]=6", '{"a[b":"1","[c]":"2","a[b]c":"3","d]":"4","e.f":"5","g[h[i]]":"6"}'],
  ["=1", '{"":"1"}'],
  [
    "constructor=1&toString[valueOf]=2&a[length]=3",
    '{"constructor":"1","toString":{"valueOf":"2"},"a":{"length":"3"}}',
  ],
  ["prototype[constructor]=1", '{"prototype":{"constructor":"1"}}'],
];

/** A query, the status, and the name of the field of a 422. */
const REFUSED: readonly (readonly [string, number, string?])[] = [
  ["a=1&a[b]=2", 422, "a[b]"],
  ["a[b]=2&a=1", 422, "a"],
  ["a=1&a[]=2", 422, "a[]"],
  ["a[]=1&a[b]=2", 422, "a[b]"],
  ["a[b]=1&a[0]=2", 422, "a[0]"],
  ["a[b]=1&a[b][c]=2", 422, "a[b][c]"],
  ["a[1][2][3][4][5][6][7][8][9]=x", 422, "a[1][2][3][4][5][6][7][8][9]"],
  [`a${"[b]".repeat(10_000)}=x`, 422, `a${"[b]".repeat(10_000)}`],
  ["__proto__=1", 400],
  ["a=1&__proto__[x]=2", 400],
  ["a[__proto__][x]=1", 400],
  ["a[][__proto__]=1", 400],
  ["constructor[prototype][x]=1", 400],
  ["a[constructor][prototype]=1", 400],
];

describe("the fields of forms and queries", () => {
  for (const [query, json] of READ) {
    it(`are read as lists and objects: ${query}`, async () => {
      await using stack = await Stack.of([], async (ctx: Context) => ({
        form: await ctx.form(),
        search: ctx.search(),
      }));
      const headers = { "content-type": "application/x-www-form-urlencoded" };

      const { text } = await stack.ask(`/?${query}`, { method: "POST", headers, body: query });

      expect(text).to.equal(`{"form":${json},"search":${json}}`);
    });
  }

  for (const [query, status, field] of REFUSED) {
    it(`are refused with ${status}: ${query.slice(0, 40)}`, async () => {
      await using stack = await Stack.of([], (ctx: Context) => ctx.form());
      const headers = { "content-type": "application/x-www-form-urlencoded" };

      const answer = await stack.ask("/", { method: "POST", headers, body: query });

      expect(answer.status).to.equal(status);
      const { errors } = JSON.parse(answer.text) as { readonly errors?: object };
      expect(errors === undefined ? undefined : Object.keys(errors)[0]).to.equal(field);
    });
  }

  it("have no prototype at any depth", () => {
    const { a } = nestFields([["a[b][c]", 1]]) as { readonly a: { readonly b: object } };

    for (const fields of [nestFields([]), a, a.b]) expect(Object.getPrototypeOf(fields)).to.equal(null);
  });

  it("equal the lists and objects that a client has encoded, in any order of the indices", () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small", maxDepth: 4 },
        fc.string(),
        fc.array(tie("value"), { minLength: 1, maxLength: 4 }),
        fc.dictionary(fc.constantFrom("name", "a b", "é", "toString"), tie("value"), { minKeys: 1, maxKeys: 3 }),
      ),
    }));
    let nested = 0;
    const property = fc.property(
      fc.dictionary(fc.constantFrom("one", "two"), value, { minKeys: 1 }),
      fc.infiniteStream(fc.nat()),
      (form, ranks) => {
        const names = [...namesOf(form)];
        nested += names.some(([name]) => name.includes("[")) ? 1 : 0;

        const shuffled = names
          .map((pair) => ({ pair, rank: Number(ranks.next().value) }))
          .toSorted((one, other) => one.rank - other.rank);

        expect(JSON.parse(JSON.stringify(nestFields(shuffled.map(({ pair }) => pair))))).to.deep.equal(
          JSON.parse(JSON.stringify(form)),
        );
      },
    );

    fc.assert(property, { numRuns: 300 });
    expect(nested).to.be.at.least(150);
  });

  it("are read or refused with a status, for any names", () => {
    const part = fc.constantFrom(
      "a",
      "b",
      "[",
      "]",
      "[]",
      "[0]",
      "[1]",
      "[b]",
      "__proto__",
      "constructor",
      "[prototype]",
      ".",
    );
    const name = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));
    let read = 0;
    fc.assert(
      fc.property(fc.array(name, { maxLength: 4 }), (names) => {
        const status = statusOf(names);

        if (status === 200) read += 1;
        expect(status).to.be.oneOf([200, 400, 422]);
      }),
      { numRuns: 2000 },
    );
    expect(read).to.be.at.least(500);
  });
});

/** What reading these names leads to; an error without a status passes. */
function statusOf(names: readonly string[]): number {
  try {
    nestFields(names.map((name) => [name, "x"] as const));
    return 200;
  } catch (error) {
    if (error instanceof FrameworkError) return error.status;
    throw error;
  }
}

/** The names as the Inertia client makes them, with indices. */
function* namesOf(value: unknown, name = ""): Generator<readonly [string, string]> {
  if (typeof value === "string") {
    yield [name, value];
    return;
  }
  const members = Array.isArray(value) ? value.entries() : Object.entries(value as object);
  for (const [key, member] of members) yield* namesOf(member, name === "" ? String(key) : `${name}[${key}]`);
}
