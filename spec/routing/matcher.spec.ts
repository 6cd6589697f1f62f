import { expect } from "chai";
import * as fc from "fast-check";
import { type Match, Matcher, type IndexedRoute } from "../../lib/routing/matcher.js";
import type { Method } from "../../lib/routing/handler.js";
import { Path } from "../../lib/routing/path.js";
import { naiveMatch, type Expected } from "./naive-matcher.js";
import { requestPath, template } from "./templates.js";

const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "ANY"];

describe("Matcher", () => {
  const index = indexOf(
    "GET /",
    "GET /about",
    "GET /links",
    "POST /links",
    "GET /links/new",
    "GET /links/{id}",
    "DELETE /links/{id}",
    "HEAD /links/{id}/raw",
    "GET /links/{id}/raw",
    "GET /files/{*rest}",
    "PUT /files/{a}/{b}",
    "ANY /hook",
    "POST /hook",
    "OPTIONS /own-options",
    "GET /own-options",
    "ANY /any-above",
    "GET /caf\u00e9/{id}",
    "GET /a:b",
    "GET /x%2Fy",
    "GET /p/{__proto__}/{constructor}",
  );

  const rows: readonly (readonly [request: string, outcome: string])[] = [
    ["GET /", "GET /"],
    ["GET /about", "GET /about"],
    ["GET /about/", "not-found"],
    ["GET /About", "not-found"],
    ["GET //about", "not-found"],
    ["GET /%61bout", "GET /about"],
    ["GET about", "not-found"],
    ["GET ", "not-found"],
    ["OPTIONS *", "not-found"],
    ["GET /links/new", "GET /links/new"],
    ["GET /links/%6eew", "GET /links/new"],
    ["DELETE /links/new", 'DELETE /links/{id} {"id":"new"}'],
    ["GET /links/7", 'GET /links/{id} {"id":"7"}'],
    ["GET /links/", "not-found"],
    ["GET /links/7/", "not-found"],
    ["GET /links/a%2Fb", 'GET /links/{id} {"id":"a/b"}'],
    ["GET /links/a%20b+c", 'GET /links/{id} {"id":"a b+c"}'],
    ["GET /links/%C3%A9", 'GET /links/{id} {"id":"\u00e9"}'],
    ["GET /links/\u00c3\u00a9", 'GET /links/{id} {"id":"\u00e9"}'],
    ["GET /links/..", 'GET /links/{id} {"id":".."}'],
    ["GET /links/%zz", "malformed"],
    ["GET /nowhere/%zz", "malformed"],
    ["GET /links/%FF", "malformed"],
    ["GET /links/%00", "malformed"],
    ["POST /links/%", "malformed"],
    ["HEAD /links/7", 'GET /links/{id} {"id":"7"}'],
    ["HEAD /links/7/raw", 'HEAD /links/{id}/raw {"id":"7"}'],
    ["HEAD /hook", "ANY /hook"],
    ["HEAD /links", "GET /links"],
    ["PUT /links", "method-not-allowed: GET, HEAD, OPTIONS, POST"],
    ["TRACE /links", "method-not-allowed: GET, HEAD, OPTIONS, POST"],
    ["PUT /links/new", "method-not-allowed: DELETE, GET, HEAD, OPTIONS"],
    ["OPTIONS /links", "options: GET, HEAD, OPTIONS, POST"],
    ["OPTIONS /nowhere", "not-found"],
    ["OPTIONS /own-options", "OPTIONS /own-options"],
    ["OPTIONS /any-above", "ANY /any-above"],
    ["POST /hook", "POST /hook"],
    ["GET /hook", "ANY /hook"],
    ["PURGE /hook", "ANY /hook"],
    ["GET /files", "not-found"],
    ["GET /files/", "not-found"],
    ["GET /files/a", 'GET /files/{*rest} {"rest":"a"}'],
    ["GET /files/a/b%2Fc/d%20e", 'GET /files/{*rest} {"rest":"a/b/c/d e"}'],
    ["GET /files//", 'GET /files/{*rest} {"rest":"/"}'],
    ["GET /files/a/", 'GET /files/{*rest} {"rest":"a/"}'],
    ["GET /files/a/b", 'GET /files/{*rest} {"rest":"a/b"}'],
    ["PUT /files/a/b", 'PUT /files/{a}/{b} {"a":"a","b":"b"}'],
    ["POST /files/a/b", "method-not-allowed: GET, HEAD, OPTIONS, PUT"],
    ["GET /caf%c3%a9/1", 'GET /caf\u00e9/{id} {"id":"1"}'],
    ["GET /caf\u00c3\u00a9/1", 'GET /caf\u00e9/{id} {"id":"1"}'],
    ["GET /a%3ab", "GET /a:b"],
    ["GET /x%2fy", "GET /x%2Fy"],
    ["GET /x/y", "not-found"],
    ["GET /constructor", "not-found"],
    ["GET /__proto__", "not-found"],
    ["constructor /links", "method-not-allowed: GET, HEAD, OPTIONS, POST"],
  ];
  for (const [request, outcome] of rows) {
    it(`answers ${JSON.stringify(request)} with ${outcome}`, () => {
      const [method = "", path = ""] = request.split(" ", 2);

      const match = index.match(method, path);

      expect(described(match, path)).to.equal(outcome);
    });
  }

  it("keeps parameters with the names of prototype members as the parameters' own", () => {
    const path = "/p/one/two";

    const params = paramsOf(index.match("GET", path), path);

    expect(Object.entries(params)).to.deep.equal([
      ["__proto__", "one"],
      ["constructor", "two"],
    ]);
    expect(Object.getPrototypeOf(Object.getPrototypeOf(params))).to.equal(null);
  });

  it("knows no parameter that the path has not", () => {
    const params = paramsOf(index.match("GET", "/links/7"), "/links/7");

    expect(params["toString"]).to.equal(undefined);
    expect(params["constructor"]).to.equal(undefined);
  });

  it("gives the same match for the same route, made beforehand", () => {
    expect(index.match("GET", "/links/7")).to.equal(index.match("GET", "/links/8"));
    expect(index.match("GET", "/about")).to.equal(index.match("HEAD", "/about"));
  });

  it("agrees with the rules followed to the letter", () => {
    fc.assert(
      fc.property(table(), fc.constantFrom(...METHODS, "TRACE"), requestPath(), (routes, method, path) => {
        const expected = naiveMatch(routes, method, path);

        const match = new Matcher(routes).match(method, path);

        expect(asExpected(match, path)).to.deep.equal(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("does not depend on the order of declaration", () => {
    const shuffled = table().chain((routes) =>
      fc.tuple(fc.constant(routes), fc.shuffledSubarray(routes, { minLength: routes.length })),
    );
    fc.assert(
      fc.property(shuffled, fc.constantFrom(...METHODS), requestPath(), ([routes, other], method, path) => {
        const left = new Matcher(routes).match(method, path);
        const right = new Matcher(other).match(method, path);

        expect(asExpected(left, path)).to.deep.equal(asExpected(right, path));
      }),
    );
  });

  it("finds again what a URL was filled with", () => {
    const values = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }), {
      minLength: 5,
      maxLength: 5,
    });
    fc.assert(
      fc.property(template(), values, (source, given) => {
        const path = Path.of(source);
        const filling = given.slice(0, path.names.length);
        fc.pre(filling.every((value) => !/^[./]|\/\.|\0/.test(value)));

        const url = path.fill(filling);
        const match = new Matcher([{ method: "GET", path, value: 0 }]).match("GET", url);

        expect(Object.entries(paramsOf(match, url))).to.deep.equal(path.names.map((name, at) => [name, filling[at]]));
      }),
    );
  });

  it("never searches longer than its templates are, however deep the path", () => {
    const depth = 12;
    const words = Array.from({ length: 2 ** depth }, (_, bits) =>
      Array.from({ length: depth }, (__, at) => ((bits >> at) & 1 ? "a" : `{p${at}}`)),
    );
    const adversarial = indexOf(...words.map((segments) => `GET /${segments.join("/")}/end`));
    const deep = `/${"a/".repeat(20_000)}`;

    const started = performance.now();
    for (let round = 0; round < 20; round++) adversarial.match("GET", deep);
    const elapsed = performance.now() - started;

    expect(described(adversarial.match("GET", deep), deep)).to.equal("not-found");
    expect(described(adversarial.match("GET", `/${"a/".repeat(depth)}end`), "")).to.match(/^GET \/a\/a/);
    // All 8191 nodes are entered once a round: some milliseconds. Backtracking over the path itself would not come back.
    expect(elapsed).to.be.below(5000);
  });
});

function indexOf(...sources: readonly string[]): Matcher<string> {
  return new Matcher(
    sources.map((value) => {
      const [method, path = ""] = value.split(" ", 2);
      return { method: METHODS.find((each) => each === method) ?? "ANY", path: Path.of(path), value };
    }),
  );
}

interface Declared {
  readonly method: Method;
  readonly source: string;
}

function table(): fc.Arbitrary<IndexedRoute<number>[]> {
  const route = fc.record({ method: fc.constantFrom(...METHODS), source: template() });
  return fc
    .uniqueArray<Declared, string>(route, { selector: identity, maxLength: 12 })
    .map((list) => list.map(({ method, source }, value) => ({ method, path: Path.of(source), value })));
}

/** What no two routes of an application may share. */
function identity({ method, source }: Declared): string {
  return `${method} ${Path.of(source).shape}`;
}

function asExpected(match: Match<number>, path: string): Expected {
  return match.kind === "found" ? { kind: "found", value: match.value, params: paramsOf(match, path) } : match;
}

function paramsOf(match: Match<unknown>, path: string): Readonly<Record<string, string>> {
  if (match.kind !== "found") throw new Error(`nothing found: ${match.kind}`);
  return match.params(path);
}

function described(match: Match<string>, path: string): string {
  if (match.kind === "found") {
    const params = match.value.includes("{") && path !== "" ? ` ${JSON.stringify(match.params(path))}` : "";
    return match.value + params;
  }
  return "allow" in match ? `${match.kind}: ${match.allow}` : match.kind;
}
