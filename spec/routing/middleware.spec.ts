import { expect } from "chai";
import type { Context } from "../../lib/http/request/context.js";
import { getMiddlewareName, type Next } from "../../lib/http/middleware.js";
import {
  getMethodMiddleware,
  isMiddleware,
  isMiddlewareClass,
  middleware,
  Middleware as Decorator,
  type Middleware,
} from "../../lib/routing/middleware.js";
import { errorOf } from "../support/error-of.js";

const passing: Middleware["handle"] = (_ctx, next) => next();

async function requestTimer(_ctx: Context, next: Next): Promise<void> {
  await next();
}

function plain(): void {}

describe("middleware(fn)", () => {
  const names: readonly (readonly [given: string, name: string])[] = [
    ["signedIn", "SignedIn"],
    ["SignedIn", "SignedIn"],
    ["signed_in", "SignedIn"],
    ["signed-in", "SignedIn"],
    ["signed in", "SignedIn"],
    ["requireHTTPS2", "RequireHTTPS2"],
  ];
  for (const [given, name] of names) {
    it(`names the class ${name} for ${given}`, () => {
      expect(middleware(passing, given).name).to.equal(name);
    });
  }

  it("names the class after the function", () => {
    expect(middleware(requestTimer).name).to.equal("RequestTimer");
    expect(middleware(passing).name).to.equal("Passing");
  });

  it("returns a class whose instances call the function", () => {
    const seen: unknown[] = [];
    const Recording = middleware((...args) => seen.push(args), "recording");
    // The class gives the function its own arguments, so any value is enough.
    const ctx = {} as Context;

    const result = new Recording().handle(ctx, end);

    expect(seen).to.deep.equal([[ctx, end]]);
    expect(result).to.equal(1);
  });

  for (const name of ["", "---"]) {
    it(`refuses "${name}" as the name of the class`, () => {
      const error = errorOf(() => middleware(() => undefined, name));

      expect(error).to.include({ code: "E_MIDDLEWARE_NAME" });
    });
  }

  it("refuses an anonymous function without a name for the class", () => {
    expect(errorOf(() => middleware(() => undefined))).to.include({ code: "E_MIDDLEWARE_NAME" });
  });
});

describe("@Middleware", () => {
  it("keeps what a standard call recorded where a legacy call by hand adds to it", () => {
    class Links {
      index(): void {}
    }
    // A method is read for its identity only.
    const method: () => void = Reflect.get(Links.prototype, "index");
    const context = { kind: "method", name: "index", static: false, private: false, addInitializer: () => {} };

    Reflect.apply(Decorator(passing), undefined, [method, context]);
    Decorator(requestTimer)(Links.prototype, "index", {});

    expect(getMethodMiddleware(Links, "index")).to.deep.equal([requestTimer, passing]);
  });
});

describe("isMiddleware and isMiddlewareClass", () => {
  const rows: readonly (readonly [title: string, input: unknown, is: boolean, isClass: boolean, name: string])[] = [
    ["a class", middleware(passing), true, true, "Passing"],
    ["an instance", new (middleware(passing))(), true, false, "Passing"],
    ["an arrow function", passing, true, false, "passing"],
    ["a plain function", plain, true, false, "plain"],
    [
      "a function without a name",
      (
        () => () =>
          undefined
      )(),
      true,
      false,
      "anonymous",
    ],
    ["undefined", undefined, false, false, ""],
    ["null", null, false, false, ""],
    ["an object without handle", {}, false, false, ""],
    ["a text", "SignedIn", false, false, ""],
  ];
  for (const [title, input, is, isClass, name] of rows) {
    it(`recognise ${title}`, () => {
      expect(isMiddleware(input)).to.equal(is);
      if (!isMiddleware(input)) return;
      expect(isMiddlewareClass(input)).to.equal(isClass);
      expect(getMiddlewareName(input)).to.equal(name);
    });
  }
});

async function end(): Promise<void> {
  return Promise.resolve();
}
