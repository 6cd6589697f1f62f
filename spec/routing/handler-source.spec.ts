import { expect } from "chai";
import { askedInSource, askedParameters } from "../../lib/routing/handler-source.js";

describe("askedParameters", () => {
  const rows: readonly (readonly [source: string, asked: readonly string[]])[] = [
    // plain
    ["show({ params }) { return params.id; }", ["id"]],
    ["async show({ params }) { return await find(params.id); }", ["id"]],
    ["show({ params: { id, slug: text, page = 1, ...rest } }) {}", ["id", "slug", "page"]],
    ["show({ params: p, ...ctx }) { return [p.id, ctx.path]; }", ["id"]],
    ["show({ path, params }) { return params.id + params.id; }", ["id"]],
    ["show(ctx) { return [ctx.params.id, ctx.params.slug]; }", ["id", "slug"]],
    ["show(ctx) { const { id, slug = 'x' } = ctx.params; return [id, slug]; }", ["id", "slug"]],
    ["show({ params }) { const { id } = params; return id; }", ["id"]],
    ["show(ctx) { return ctx\n  .params\n  .id; }", ["id"]],
    ["(ctx) => ctx.params.id", ["id"]],
    ["ctx => ctx.params.id", ["id"]],
    ["async ctx => ctx.params.id", ["id"]],
    ["async ({ params }) => params.id", ["id"]],
    ["({params:{id}}) => id", ["id"]],
    ["($c) => $c.params.$id", ["$id"]],
    ["function show(ctx) { return ctx.params.id; }", ["id"]],
    ["async function show(ctx) { return ctx.params.id; }", ["id"]],
    ["function (ctx) { return ctx.params.id; }", ["id"]],
    ["[Symbol.iterator](ctx) { return ctx.params.id; }", ["id"]],
    ["async(ctx) { return ctx.params.id; }", ["id"]],
    // nothing
    ["show() { return params.id; }", []],
    ["show({ path }) { return params.id; }", []],
    ["show(ctx) { return ctx.path; }", []],
    ["show(ctx) { return ctx.params['id']; }", []],
    ["show({ params }) { return params.hasOwnProperty('id') || params.constructor; }", []],
    ["show(ctx) { return [ctx.request.params.a, myctx.params.b, other.ctx.params.c]; }", []],
    ["show({ params }) { return request.params.id; }", []],
    ["() => 1", []],
    ["class { constructor(ctx) { ctx.params.id; } }", []],
    ["function () { [native code] }", []],
    ["", []],
    // what only looks like code
    ["show(ctx) { // ctx.params.a\n return ctx.params.id; }", ["id"]],
    ["show(ctx) { /* ctx.params.a */ return ctx.params.id; }", ["id"]],
    ["show(ctx) { return 'ctx.params.a' + \"ctx.params.b\" + `${ctx.params.c}` + ctx.params.id; }", ["id"]],
    ["show(ctx) { return 'it\\'s ctx.params.a' + ctx.params.id; }", ["id"]],
    ["show(ctx) { return 'unfinished ctx.params.a", []],
    ["show(ctx) { /* unfinished ctx.params.a", []],
    // doubts
    ["show({ params }, more) { return params.id; }", []],
    ["show(ctx, next) { return ctx.params.id; }", []],
    ["show({ params } = {}) { return params.id; }", []],
    ["show({ params }) { return list.map(({ params }) => params.other); }", []],
    ["show({ params }) { return list.map((params) => params.other); }", []],
    ["show({ params }) { return list.map(params => params.other); }", []],
    ["show({ params }) { return list.map((each, params) => params.other); }", []],
    ["show(ctx) { return list.map((ctx) => ctx.params.other); }", []],
    ["show(ctx) { const ctx = other; return ctx.params.other; }", []],
    ["show({ params }) { params = other; return params.id; }", []],
    ["show({ params }) { return [read(params), params.id]; }", []],
    ["show({ params: { id: { inner } } }) {}", []],
  ];
  for (const [source, asked] of rows) {
    it(`reads ${asked.join(", ") || "nothing"} in ${source}`, () => {
      expect(askedInSource(source)).to.deep.equal(asked);
    });
  }

  it("reads the source of a function, where it has one", () => {
    expect(askedParameters(show)).to.deep.equal(["id"]);
    expect(askedParameters(show.bind(undefined))).to.deep.equal([]);
    expect(askedParameters(Math.max)).to.deep.equal([]);
  });

  it("takes no longer the longer the source is", () => {
    const sources = ["{".repeat(50_000), "({ ".repeat(50_000), "(ctx) { ctx. ".repeat(20_000), "({,".repeat(50_000)];

    for (const source of sources) expect(askedInSource(`show${source}`)).to.deep.equal([]);
  });
});

function show({ params }: { readonly params: { readonly id: string } }): string {
  return params.id;
}
