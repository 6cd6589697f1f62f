import { expect } from "chai";
import * as fc from "fast-check";
import type { Method } from "../../lib/endpoints/method.js";
import { BoundRoute, Matcher, type Match } from "../../lib/routing/matcher.js";
import { Path } from "../../lib/endpoints/path.js";
import { decodePart } from "../../lib/endpoints/percent-encoding.js";
import { naiveMatch, type Expected } from "./naive-matcher.js";
import { requestPath, template } from "../endpoints/templates.js";

const METHODS: readonly Method[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "ANY"];

describe("Matcher", () => {
  const matcher = createMatcher(
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
    "GET /a|b",
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
    ["GET /a|b", "GET /a|b"],
    ["GET /a%7cb", "GET /a|b"],
    ["GET /links/a|b", 'GET /links/{id} {"id":"a|b"}'],
    ["GET /links/a\\b", 'GET /links/{id} {"id":"a\\\\b"}'],
    ["GET /links/\0", "malformed"],
    ["GET /constructor", "not-found"],
    ["GET /__proto__", "not-found"],
    ["constructor /links", "method-not-allowed: GET, HEAD, OPTIONS, POST"],
  ];
  for (const [request, outcome] of rows) {
    it(`finds ${outcome} for ${JSON.stringify(request)}`, () => {
      const [method = "", path = ""] = request.split(" ", 2);

      const match = matcher.match(method, path);

      expect(described(match, path)).to.equal(outcome);
    });
  }

  it("gives parameters with the names of prototype members as own properties", () => {
    const path = "/p/one/two";

    const params = getParams(matcher.match("GET", path), path);

    expect(Object.entries(params)).to.deep.equal([
      ["__proto__", "one"],
      ["constructor", "two"],
    ]);
    expect(Object.getPrototypeOf(Object.getPrototypeOf(params))).to.equal(null);
  });

  it("gives no parameter that the template lacks", () => {
    const params = getParams(matcher.match("GET", "/links/7"), "/links/7");

    expect(params["toString"]).to.equal(undefined);
    expect(params["constructor"]).to.equal(undefined);
  });

  it("gives the same object for every match of a route", () => {
    expect(matcher.match("GET", "/links/7")).to.equal(matcher.match("GET", "/links/8"));
    expect(matcher.match("GET", "/about")).to.equal(matcher.match("HEAD", "/about"));
  });

  it("agrees with a matcher that tries every template", () => {
    fc.assert(
      fc.property(table(), fc.constantFrom(...METHODS, "TRACE"), requestPath(), (routes, method, path) => {
        const expected = naiveMatch(routes, method, path);

        const match = new Matcher(routes).match(method, path);

        expect(asExpected(match, path)).to.deep.equal(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("decodes a capture of every ASCII text", () => {
    const files = createMatcher("GET /{*rest}");
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii", minLength: 1 }), (text) => {
        const match = files.match("GET", `/${text}`);

        const rest = match.kind === "route" ? match.params(`/${text}`)?.["rest"] : undefined;
        expect(rest).to.equal(decodePart(text));
      }),
    );
  });

  it("does not depend on the order in which routes are declared", () => {
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

  it("gives the parameters that a URL was filled with", () => {
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
        const match = new Matcher([new BoundRoute("GET", path, noRun)]).match("GET", url);

        expect(Object.entries(getParams(match, url))).to.deep.equal(path.names.map((name, at) => [name, filling[at]]));
      }),
    );
  });

  it("searches no deeper than its templates, for a path of any depth", () => {
    const depth = 12;
    const words = Array.from({ length: 2 ** depth }, (_, bits) =>
      Array.from({ length: depth }, (__, at) => ((bits >> at) & 1 ? "a" : `{p${at}}`)),
    );
    const adversarial = createMatcher(...words.map((segments) => `GET /${segments.join("/")}/end`));
    const deep = `/${"a/".repeat(20_000)}`;

    const before = process.cpuUsage();
    for (let round = 0; round < 20; round++) adversarial.match("GET", deep);
    const { user } = process.cpuUsage(before);

    expect(described(adversarial.match("GET", deep), deep)).to.equal("not-found");
    expect(described(adversarial.match("GET", `/${"a/".repeat(depth)}end`), "")).to.match(/^GET \/a\/a/);
    // One search enters each of the 8191 nodes once, in some milliseconds. Backtracking over the path would take years.
    expect(user / 1000, "milliseconds of the processor").to.be.below(5000);
  });
});

function createMatcher(...titles: readonly string[]): Matcher {
  return new Matcher(
    titles.map((title) => {
      const [method, path = ""] = title.split(" ");
      return new BoundRoute(METHODS.find((each) => each === method) ?? "ANY", Path.of(path), noRun);
    }),
  );
}

function noRun(): void {}

function table(): fc.Arbitrary<BoundRoute[]> {
  const route = fc.record({ method: fc.constantFrom(...METHODS), path: template().map((source) => Path.of(source)) });
  return fc
    .uniqueArray(route, { selector: getRequestKey, maxLength: 12 })
    .map((list) => list.map(({ method, path }) => new BoundRoute(method, path, noRun)));
}

/** Two routes of an application never have the same method and shape. */
function getRequestKey({ method, path }: Pick<BoundRoute, "method" | "path">): string {
  return `${method} ${path.shape}`;
}

function asExpected(match: Match, path: string): Expected {
  return match.kind === "route" ? { kind: "route", route: match, params: getParams(match, path) } : match;
}

function getParams(match: Match, path: string): Readonly<Record<string, string>> {
  if (match.kind !== "route") throw new Error(`no route matches: ${match.kind}`);
  return match.params(path) ?? {};
}

function described(match: Match, path: string): string {
  if (match.kind === "route") {
    const { names, template: text } = match.path;
    const params = names.length > 0 && path !== "" ? ` ${JSON.stringify(match.params(path))}` : "";
    return `${match.method} ${text}${params}`;
  }
  return "allow" in match ? `${match.kind}: ${match.allow}` : match.kind;
}
