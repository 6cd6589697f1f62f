/** The scopes that endpoints give their guards, in the document and in the differences of two documents. */
import { Get, guard, Post, Route, Routes, routes } from "@stagecraft/framework";
import { apiToken, bearer, issuer, role, signedIn } from "@stagecraft/framework/auth/guards";
import { checkOpenApi, createOpenApi } from "@stagecraft/framework/openapi";
import { expect } from "chai";

const company = issuer("company");
const atLevel = guard<object, [level: number]>("level", { scheme: "bearer" });

const orders = routes("orders", "/orders", {
  all: Get("/", { guards: [bearer(company)] }),
  store: Post("/", { guards: [bearer(company, { scopes: ["orders:write", "orders:read"] })] }),
  own: Get("/own", { guards: [apiToken("orders:read"), role("admin")] }),
  page: Get("/page", { guards: [signedIn, role("admin")] }),
  level: Get("/level", { guards: [atLevel(3)] }),
});

const texts = () => "orders";

describe("the security requirement of an operation", () => {
  it("has the scopes of the guard, and no other arguments", () => {
    const { all, store, own, page, level } = orders;
    const document = createOpenApi(
      new Routes([
        Route.of(all, texts),
        Route.of(store, texts),
        Route.of(own, texts),
        Route.of(page, texts),
        Route.of(level, texts),
      ]),
    );
    const security = Object.values(document.paths).flatMap((path) =>
      Object.entries(path).map(([method, operation]): unknown => [method, Reflect.get(Object(operation), "security")]),
    );

    expect(security).to.deep.equal([
      ["get", [{ bearer: [] }]],
      ["post", [{ bearer: ["orders:read", "orders:write"] }]],
      ["get", [{ bearer: [] }]],
      ["get", [{ bearer: ["orders:read"] }]],
      ["get", [{ session: [] }]],
    ]);
  });

  it("breaks a client by a further scope", () => {
    const readers = Get("/orders", { name: "orders.all", guards: [bearer(company, { scopes: ["orders:read"] })] });
    const everybody = Get("/orders", { name: "orders.all", guards: [bearer(company)] });
    const [narrow, wide] = [readers, everybody].map((each) => createOpenApi(new Routes([Route.of(each, texts)])));

    expect(checkOpenApi(wide ?? {}, narrow ?? {}))
      .to.have.lengthOf(1)
      .and.to.have.nested.property("[0].isBreaking", true);
    expect(checkOpenApi(narrow ?? {}, wide ?? {})).to.have.nested.property("[0].isBreaking", false);
  });
});
