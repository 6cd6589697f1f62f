import { expect } from "chai";
import { ValidationError } from "../../../lib/errors/framework-error.js";
import type { Context } from "../../../lib/http/request/context.js";
import { Page } from "../../../lib/stages/pages/page.js";
import { clearHistory, preserveFragment } from "../../../lib/stages/pages/protocol/history.js";
import { PagesLayer } from "../../../lib/stages/pages/pages-layer.js";
import { RootDocument } from "../../../lib/stages/pages/document/document.js";
import { PageWriter } from "../../../lib/stages/pages/protocol/page-writer.js";
import { DEFAULT_BAG } from "../../../lib/stages/session/flash-port.js";
import { redirect } from "../../../lib/stages/redirects/redirect.js";
import { Route } from "../../../lib/routing/route.js";
import { Routes } from "../../../lib/routing/routes.js";
import { RedirectMapperLayer, NO_ROUTES } from "../../../lib/stages/redirects/redirect-mapper.js";
import { FakeFlash } from "../../support/fake-flash.js";
import { inertia, pageIn, partial, type PageData } from "../../support/page-visit.js";
import { Stack } from "../../support/stack.js";

const ORIGIN = "https://shop.example";

function stackOf(flash: FakeFlash, handler: (ctx: Context) => unknown): Promise<Stack> {
  const document = new RootDocument();
  const writer = new PageWriter({
    version: "v1",
    share: {},
    encryptHistory: false,
    render: (body) => document.render(body),
    assets: { version: null, tags: () => "", preloads: () => "" },
    linkHeader: false,
    renderOnServer: undefined,
  });
  const layers = [
    flash.layer,
    new PagesLayer(writer, { origin: ORIGIN, routes: new Routes([Route.get("/links", () => "")]) }),
    new RedirectMapperLayer({ routes: NO_ROUTES, origin: ORIGIN }),
  ];
  return Stack.of(layers, handler);
}

const visit = (more: Record<string, string> = {}) => inertia({ "X-Inertia-Version": "v1", ...more });

async function pageOf(
  flash: FakeFlash,
  headers: Record<string, string>,
  page = Page.of("x", { a: 1 }),
): Promise<PageData> {
  await using stack = await stackOf(flash, () => page);
  return JSON.parse((await stack.ask("/", { headers })).text) as PageData;
}

describe("the flash of a page", () => {
  it("is a member of the page object, with texts by their key and messages", async () => {
    const flash = new FakeFlash();
    flash.addData("notice", "Saved.");
    flash.addMessage("success", "Link added.");

    const page = await pageOf(flash, visit());

    expect(page["flash"]).to.deep.equal({ notice: "Saved.", messages: [{ level: "success", message: "Link added." }] });
    expect(page.props).not.to.have.any.keys("flash", "notice");
    expect(flash.takes).to.equal(1);
  });

  it("is a part of the page object in the document", async () => {
    const flash = new FakeFlash();
    flash.addData("notice", "Saved.");
    await using stack = await stackOf(flash, () => Page.of("x"));

    expect(pageIn((await stack.ask("/")).text)["flash"]).to.deep.equal({ notice: "Saved." });
  });

  it("is absent where nothing was left", async () => {
    expect(await pageOf(new FakeFlash(), visit())).not.to.have.property("flash");
  });

  it("is delivered to a partial reload, which may follow a form", async () => {
    const flash = new FakeFlash();
    flash.addData("notice", "Saved.");

    const page = await pageOf(flash, partial("x", "a", { "X-Inertia-Version": "v1" }));

    expect(page["flash"]).to.deep.equal({ notice: "Saved." });
  });

  const leaving: readonly (readonly [string, Record<string, string>, (ctx: Context) => unknown])[] = [
    ["a prefetch of the client", visit({ Purpose: "prefetch" }), () => Page.of("x")],
    ["a prefetch of the browser", { "Sec-Purpose": "prefetch" }, () => Page.of("x")],
    ["a prerendering of the browser", { "Sec-Purpose": "prefetch;prerender" }, () => Page.of("x")],
    ["a version conflict", visit({ "X-Inertia-Version": "v0" }), () => Page.of("x")],
    ["a redirect", visit(), () => redirect().to("/a")],
    ["JSON", visit(), () => ({ a: 1 })],
    ["an error page", visit(), () => Page.of("x").status(404)],
    ["a page whose props fail", visit(), () => Page.of("x", { a: () => Promise.reject(new Error("boom")) })],
  ];
  for (const [what, headers, handler] of leaving) {
    it(`stays for the next page if the response is ${what}`, async () => {
      const flash = new FakeFlash();
      flash.addData("notice", "Saved.");
      await using stack = await stackOf(flash, handler);

      const answer = await stack.ask("/", { headers });

      expect(flash.takes).to.equal(0);
      expect(answer.text).not.to.contain("Saved.");
    });
  }
});

describe("the errors of a page", () => {
  const rows: readonly (readonly [
    string,
    Readonly<Record<string, Record<string, string | string[]>>>,
    string | undefined,
    unknown,
  ])[] = [
    ["are an empty object without any message", {}, undefined, {}],
    ["are an empty bag if the request names one", {}, "login", { login: {} }],
    ["are the messages without a bag", { [DEFAULT_BAG]: { name: "is taken" } }, undefined, { name: "is taken" }],
    [
      "may be lists of messages",
      { [DEFAULT_BAG]: { name: ["is taken", "is short"] } },
      undefined,
      { name: ["is taken", "is short"] },
    ],
    [
      "are put into the requested bag",
      { [DEFAULT_BAG]: { name: "is taken" } },
      "login",
      { login: { name: "is taken" } },
    ],
    [
      "are those of the requested bag",
      { login: { name: "a" }, [DEFAULT_BAG]: { name: "b" } },
      "login",
      { login: { name: "a" } },
    ],
    [
      "have the other bags beside the fields",
      { login: { name: "a" }, [DEFAULT_BAG]: { name: "b" } },
      undefined,
      { login: { name: "a" }, name: "b" },
    ],
  ];
  for (const [what, left, bag, expected] of rows) {
    it(`${what} in the props of the page`, async () => {
      const flash = new FakeFlash();
      for (const [name, errors] of Object.entries(left)) flash.addErrors(errors, name);

      const page = await pageOf(flash, visit(bag === undefined ? {} : { "X-Inertia-Error-Bag": bag }));

      expect(page.props["errors"]).to.deep.equal(expected);
    });
  }

  it("are sent to a partial reload that names other props or excepts the errors", async () => {
    const flash = new FakeFlash();
    flash.addErrors({ name: "is taken" }, DEFAULT_BAG);
    const headers = { "X-Inertia-Version": "v1", "X-Inertia-Partial-Except": "errors" };

    expect((await pageOf(flash, partial("x", "a", headers))).props).to.deep.equal({
      errors: { name: "is taken" },
      a: 1,
    });
  });

  it("may come from the page itself", async () => {
    const page = Page.of("x").errors({ name: "is short" }).status(422);

    expect((await pageOf(new FakeFlash(), visit(), page)).props["errors"]).to.deep.equal({ name: "is short" });
  });

  it("may have the name of a member of every object as their bag", async () => {
    const page = await pageOf(new FakeFlash(), visit({ "X-Inertia-Error-Bag": "__proto__" }));

    expect(Object.keys(page.props["errors"] as object)).to.deep.equal(["__proto__"]);
  });
});

describe("a failed validation of an Inertia request", () => {
  const invalid = new ValidationError({
    name: [{ code: "taken", message: "is taken" }, { code: "x" }],
    slug: [{ code: "short" }],
  });
  const refuse = () => Promise.reject(invalid);
  const ask = { method: "POST", headers: visit({ Referer: "/form?a" }) };

  it("is redirected to the form, with one message for each field", async () => {
    const flash = new FakeFlash();
    await using stack = await stackOf(flash, refuse);

    const answer = await stack.ask("/links", ask);

    expect([answer.status, answer.headers.location, answer.text]).to.deep.equal([303, "/form?a", ""]);
    expect(answer.headers).not.to.have.property("content-type");
    expect(flash.content.errors).to.deep.equal({ [DEFAULT_BAG]: { name: "is taken", slug: "short" } });
    expect(flash.content.input).to.deep.equal({});
  });

  it("stores the messages in the requested error bag", async () => {
    const flash = new FakeFlash();
    await using stack = await stackOf(flash, refuse);

    await stack.ask("/links", { ...ask, headers: visit({ "X-Inertia-Error-Bag": "create" }) });

    expect(Object.keys(flash.content.errors)).to.deep.equal(["create"]);
  });

  it("is redirected without Referer to its own URL, if that has a page", async () => {
    const flash = new FakeFlash();
    await using stack = await stackOf(flash, refuse);

    const answer = await stack.ask("/links?a", { method: "POST", headers: visit() });

    expect([answer.status, answer.headers.location]).to.deep.equal([303, "/links?a"]);
    expect(flash.content.errors).to.have.property(DEFAULT_BAG);
  });

  it("stays a problem without Referer, if its own URL has no page", async () => {
    const flash = new FakeFlash();
    await using stack = await stackOf(flash, refuse);

    for (const referer of [{}, { Referer: "https://evil.example/links" }]) {
      const answer = await stack.ask("/links/7/archive", { method: "POST", headers: visit(referer) });
      expect([answer.status, answer.headers["content-type"]]).to.deep.equal([422, "application/problem+json"]);
    }
    expect(flash.content.errors).to.deep.equal({});
  });

  it("stays a problem for requests of other clients, and for GET", async () => {
    await using stack = await stackOf(new FakeFlash(), refuse);

    const answers = [await stack.ask("/links", { method: "POST" }), await stack.ask("/links", { headers: visit() })];

    expect(answers.map(({ status }) => status)).to.deep.equal([422, 422]);
  });
});

describe("the history marks of a request", () => {
  const marks = [
    ["clearHistory", clearHistory],
    ["preserveFragment", preserveFragment],
  ] as const;
  for (const [member, mark] of marks) {
    it(`set ${member} on its page`, async () => {
      await using stack = await stackOf(new FakeFlash(), (ctx) => (mark(ctx), Page.of("x")));

      expect(JSON.parse((await stack.ask("/", { headers: visit() })).text)).to.have.property(member, true);
    });

    for (const target of ["/next", "/next#part"]) {
      it(`set ${member} on the page after a redirect to ${target}`, async () => {
        const flash = new FakeFlash();
        await using stack = await stackOf(flash, (ctx) =>
          ctx.path === "/out" ? (mark(ctx), redirect().to(target)) : Page.of("x"),
        );

        await stack.ask("/out", { method: "POST", headers: visit() });
        const { text } = await stack.ask("/next", { headers: visit() });

        expect(JSON.parse(text)).to.have.property(member, true);
      });
    }
  }
});
