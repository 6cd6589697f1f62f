import { expect } from "chai";
import * as fc from "fast-check";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { joinPaths } from "../../lib/endpoints/filled-path.js";
import { Path, PathFault } from "../../lib/endpoints/path.js";
import { errorOf } from "../support/error-of.js";
import { template } from "./templates.js";

describe("Path", () => {
  describe("read", () => {
    const accepted: readonly (readonly [template: string, names: readonly string[]])[] = [
      ["/", []],
      ["/links", []],
      ["/links/{id}", ["id"]],
      ["/teams/{team}/links/{id}", ["team", "id"]],
      ["/{*rest}", ["rest"]],
      ["/files/{*rest}", ["rest"]],
      ["/{_a1}/{__proto__}", ["_a1", "__proto__"]],
      ["/.well-known/security.txt", []],
      ["/a:b/(c)/[d]/e+f/g!/h*/i\\j", []],
      ["/caf\u00e9/%C3%A9", []],
      ["/a%2Fb", []],
      ["/a b", []],
    ];
    for (const [source, names] of accepted) {
      it(`accepts the template ${source}`, () => {
        const path = Path.read(source);

        expect(path).to.be.instanceOf(Path);
        expect((path as Path).names).to.deep.equal(names);
      });
    }

    const refused: readonly (readonly [template: string, reason: RegExp])[] = [
      ["", /slash/],
      ["links", /slash/],
      ["{id}", /slash/],
      ["//", /empty segment/],
      ["/links/", /empty segment/],
      ["/links//new", /empty segment/],
      ["/./links", /segment "\."/],
      ["/links/..", /segment "\.\."/],
      ["/links/%2E%2e", /segment "%2E%2e"/],
      ["/links?page=1", /\?/],
      ["/links#top", /#/],
      ["/links/{id}.json", /fill a whole segment/],
      ["/links/x{id}", /fill a whole segment/],
      ["/links/{id}{x}", /fill a whole segment/],
      ["/links/{}", /fill a whole segment/],
      ["/links/{1a}", /fill a whole segment/],
      ["/links/{a-b}", /fill a whole segment/],
      ["/links/{ id }", /fill a whole segment/],
      ["/links/{id", /fill a whole segment/],
      ["/links/id}", /fill a whole segment/],
      ["/links/{id?}", /fill a whole segment/],
      ["/links/{**rest}", /fill a whole segment/],
      ["/{id}/x/{id}", /"id" twice/],
      ["/{id}/{*id}", /"id" twice/],
      ["/{*rest}/x", /not the last/],
      ["/{*a}/{*b}", /not the last/],
      ["/%zz", /percent-encoded/],
      ["/%", /percent-encoded/],
      ["/%C3", /percent-encoded/],
      ["/a%00", /percent-encoded/],
      ["/\ud800", /percent-encoded/],
    ];
    for (const [source, reason] of refused) {
      it(`refuses the template "${source}"`, () => {
        const fault = Path.read(source);

        expect(fault).to.be.instanceOf(PathFault);
        expect((fault as PathFault).reason).to.match(reason);
      });
    }

    it("reports the template and the reason, which Path.of throws as an error", () => {
      const error = errorOf(() => Path.of("/links/"));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_ROUTE_PATH");
      expect(error.message).to.equal('the path "/links/" cannot be used: it has an empty segment');
    });
  });

  describe("fill", () => {
    const filled: readonly (readonly [template: string, values: readonly unknown[], url: string])[] = [
      ["/", [], "/"],
      ["/links/{id}", ["7"], "/links/7"],
      ["/links/{id}", [7], "/links/7"],
      ["/links/{id}", [7n], "/links/7"],
      ["/links/{id}", [false], "/links/false"],
      ["/links/{id}", ["1/2 3"], "/links/1%2F2%203"],
      ["/links/{id}", ["a:b@c"], "/links/a%3Ab%40c"],
      ["/links/{id}", ["\u00e9?#%"], "/links/%C3%A9%3F%23%25"],
      ["/links/{id}", ["..."], "/links/..."],
      ["/links/{id}", ["\\"], "/links/%5C"],
      ["/t/{team}/l/{id}", ["red", 7], "/t/red/l/7"],
      ["/files/{*rest}", ["a/b c/d"], "/files/a/b%20c/d"],
      ["/files/{*rest}", ["a/"], "/files/a/"],
      ["/caf\u00e9/{id}", [1], "/caf%C3%A9/1"],
      ["/%61/{id}", [1], "/a/1"],
    ];
    for (const [source, values, url] of filled) {
      it(`fills ${source} to ${url}`, () => {
        expect(Path.of(source).fill(values)).to.equal(url);
      });
    }

    const refused: readonly (readonly [template: string, values: readonly unknown[], detail: string])[] = [
      ["/l/{id}", [], 'the parameter "id" of "/l/{id}" is missing'],
      ["/l/{id}", [undefined], 'the parameter "id" of "/l/{id}" is missing'],
      ["/l/{id}", [""], 'the parameter "id" of "/l/{id}" is empty'],
      ["/l/{id}", ["."], 'the parameter "id" of "/l/{id}" is ".", which clients resolve'],
      ["/l/{id}", [".."], 'the parameter "id" of "/l/{id}" is "..", which clients resolve'],
      ["/l/{id}", [null], 'the parameter "id" of "/l/{id}" is missing'],
      ["/l/{id}", [{}], 'the parameter "id" of "/l/{id}" has the type object'],
      ["/l/{id}", [Symbol("x")], 'the parameter "id" of "/l/{id}" has the type symbol'],
      ["/l/{id}", ["\ud800"], 'the parameter "id" of "/l/{id}" contains half of a surrogate pair'],
      ["/t/{team}/{id}", ["red"], 'the parameter "id" of "/t/{team}/{id}" is missing'],
      ["/l/{id}", [1, 2], '"/l/{id}" takes 1 value: parameter 2 is surplus'],
      ["/l", [1, 2], '"/l" takes 0 values: parameter 1, parameter 2 is surplus'],
      ["/{*rest}", [""], 'the parameter "rest" of "/{*rest}" is empty'],
      ["/{*rest}", ["/evil.example"], 'the parameter "rest" of "/{*rest}" starts with a slash'],
      ["/{*rest}", ["a/../b"], 'the parameter "rest" of "/{*rest}" is "..", which clients resolve'],
    ];
    for (const [source, values, detail] of refused) {
      it(`refuses a value: ${detail}`, () => {
        const error = errorOf(() => Path.of(source).fill(values));

        expect(error).to.be.instanceOf(FrameworkError).and.include({ code: "E_ROUTE_PARAM", status: 500, detail });
      });
    }
  });

  describe("toKoaRouterPath", () => {
    const translated: readonly (readonly [template: string, koa: string])[] = [
      ["/", "/"],
      ["/links/{id}", "/links/:id"],
      ["/files/{*rest}", "/files/*rest"],
      ["/a:b/(c)/[d]/e+f", "/a\\:b/\\(c\\)/%5Bd%5D/e\\+f"],
      ["/g!/h*/i\\j", "/g\\!/h\\*/i%5Cj"],
    ];
    for (const [source, koa] of translated) {
      it(`translates ${source} to ${koa} for @koa/router`, () => {
        expect(Path.of(source).toKoaRouterPath()).to.equal(koa);
      });
    }
  });

  describe("compare", () => {
    const ordered: readonly (readonly [specific: string, general: string])[] = [
      ["/links/new", "/links/{id}"],
      ["/links/{id}", "/links/{*rest}"],
      ["/links/new", "/links/{*rest}"],
      ["/links/{id}/edit", "/{a}/new/edit"],
      ["/{a}/b", "/{a}/{b}"],
      ["/{a}/{b}", "/{a}/{*b}"],
      ["/{a}/{b}/c", "/{a}/{*b}"],
    ];
    for (const [specific, general] of ordered) {
      it(`puts the path ${specific} before ${general}`, () => {
        expect(Path.of(specific).compare(Path.of(general))).to.be.below(0);
        expect(Path.of(general).compare(Path.of(specific))).to.be.above(0);
      });
    }

    it("gives 0 for paths that differ in names only, which also have one shape", () => {
      const [left, right] = [Path.of("/a/{x}/{*y}"), Path.of("/a/{z}/{*w}")];

      expect(left.compare(right)).to.equal(0);
      expect(left.shape).to.equal(right.shape);
    });

    it("is a total order of paths", () => {
      fc.assert(
        fc.property(template(), template(), template(), (...sources) => {
          const [a, b, c] = sources.toSorted((left, right) => Path.of(left).compare(Path.of(right)));

          expect(Path.of(a ?? "").compare(Path.of(b ?? ""))).to.be.at.most(0);
          expect(Path.of(b ?? "").compare(Path.of(c ?? ""))).to.be.at.most(0);
          expect(Path.of(a ?? "").compare(Path.of(c ?? ""))).to.be.at.most(0);
        }),
      );
    });
  });

  describe("joinPaths", () => {
    const joined: readonly (readonly [prefix: string, path: string, whole: string])[] = [
      ["/admin/", "users", "/admin/users"],
      ["/admin", "users", "/admin/users"],
      ["/admin", "/users", "/admin/users"],
      ["/admin/", "/users", "/admin/users"],
      ["/admin", "", "/admin"],
      ["/admin", "/", "/admin"],
      ["/admin/", "/", "/admin"],
      ["/", "/users", "/users"],
      ["/", "/", "/"],
      ["", "/users", "/users"],
      ["", "", "/"],
      ["/teams/{team}", "/{id}", "/teams/{team}/{id}"],
      ["/admin//", "users", "/admin//users"],
    ];
    for (const [prefix, path, whole] of joined) {
      it(`joins "${prefix}" and "${path}" to ${whole}`, () => {
        expect(joinPaths(prefix, path)).to.equal(whole);
      });
    }
  });
});
