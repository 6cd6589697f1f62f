import { expect } from "chai";
import { Application } from "../../../lib/app/application.js";
import { PageContracts } from "../../../lib/stages/pages/contract.js";
import { contract, findMisfit, shape } from "../../../lib/stages/pages/contract-shape.js";
import { Page } from "../../../lib/stages/pages/page.js";
import { PageContractsLayer } from "../../../lib/stages/page-contracts.js";
import { deferred } from "../../../lib/stages/pages/props/prop.js";
import { obeysLayerContract } from "../../../lib/testing/contracts/obeys-layer-contract.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { errorOf } from "../../support/error-of.js";
import { inertia, pagesApplication, partial } from "../../support/page-visit.js";
import { startupErrorOf } from "../../support/startup-error-of.js";

const show = contract("links/show", { title: shape.string });
const index = contract("links/index", {
  links: shape.array(shape.object({ slug: shape.string, note: shape.nullable(shape.string) })),
  isOwn: shape.boolean,
  clicks: shape.optional(shape.array(shape.number)),
});

function misfitting(): Page {
  return Page.of("links/index", { links: [], isOwn: "yes", clicks: deferred(() => [1]) });
}

describe("page contracts", () => {
  it("are data, sorted by component and by prop", () => {
    const artifact = new PageContracts().register(show, index).artifact();

    expect(artifact).to.deep.equal({
      artifact: "framework.page-contract.v1",
      contracts: [
        {
          component: "links/index",
          props: {
            clicks: { type: "array", optional: true, inner: { type: "number" } },
            isOwn: { type: "boolean" },
            links: {
              type: "array",
              inner: {
                type: "object",
                members: { note: { type: "nullable", inner: { type: "string" } }, slug: { type: "string" } },
              },
            },
          },
        },
        { component: "links/show", props: { title: { type: "string" } } },
      ],
    });
  });

  it("are the same text in any order of registration", () => {
    const text = JSON.stringify(new PageContracts().register(show, index).artifact());

    expect(JSON.stringify(new PageContracts().register(index).register(show).artifact())).to.equal(text);
    expect(text).to.match(/"clicks".*"isOwn".*"links".*"note".*"slug"/);
  });

  it("are refused at the start if one is registered twice, also in another case", () => {
    const contracts = new PageContracts().register(show, show, contract("Links/Show", {}));

    const { diagnostics } = startupErrorOf(() => Application.create().pageContracts(contracts).build());

    expect(diagnostics.map(({ code, what }) => [code, what])).to.deep.equal([
      ["E_PAGE_CONTRACT", 'the component "links/show" has two contracts'],
      ["E_PAGE_CONTRACT", 'the components "links/show" and "Links/Show" differ only in case'],
    ]);
  });

  it("are found for a component with capital letters of any alphabet", () => {
    const contracts = new PageContracts().register(contract("\u00c4/Show", { title: shape.string }));

    expect(contracts.findMisfit("\u00c4/Show", {}, true)).to.equal("title is missing");
    expect(contracts.findMisfit("\u00c4/show", {}, true)).to.equal(undefined);
  });

  it("keep components apart that differ in the case of other letters", () => {
    const contracts = new PageContracts().register(contract("\u00e4", {}), contract("\u00c4", {}));

    expect(contracts.diagnostics()).to.deep.equal([]);
  });

  it("are refused for a prop that no request could name", () => {
    for (const name of ["a,b", "a.b"]) {
      expect(errorOf(() => contract("x", { [name]: shape.string }))).to.have.property("code", "E_PAGE_CONTRACT");
    }
    expect(errorOf(() => contract("", {}))).to.have.property("code", "E_PAGE_CONTRACT");
  });

  const rows: readonly (readonly [Record<string, unknown>, string | undefined])[] = [
    [{ links: [], isOwn: true }, undefined],
    [{ links: [{ slug: "a", note: null }], isOwn: false, clicks: [1] }, undefined],
    [{ isOwn: true }, "links is missing"],
    [{ links: [], isOwn: 1 }, "isOwn is not a boolean"],
    [{ links: {}, isOwn: true }, "links is not an array"],
    [{ links: [null], isOwn: true }, "links.0 is not an object"],
    [
      {
        links: [
          { slug: "a", note: null },
          { slug: 1, note: "" },
        ],
        isOwn: true,
      },
      "links.1.slug is not a string",
    ],
    [{ links: [{ slug: "a", note: 5 }], isOwn: true }, "links.0.note is not a string"],
    [{ links: [], isOwn: true, clicks: ["1"] }, "clicks.0 is not a number"],
  ];
  for (const [props, expected] of rows) {
    it(`find that ${expected ?? "all fits"} in ${JSON.stringify(props)}`, () => {
      expect(findMisfit(index.props, props)).to.equal(expected);
    });
  }

  it("warn in the log about a page that does not fit, in a debug build", async () => {
    const contracts = new PageContracts().register(index);
    await using app = await testApp(pagesApplication(misfitting, {}, (builder) => builder.pageContracts(contracts)));

    const response = await app.get("/", { headers: inertia() });
    await app.get("/", { headers: partial("links/index", "clicks") });

    expect(response.status).to.equal(200);
    const warnings = app.logs.lines().filter((line) => line.includes("props do not fit the contract"));
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain('"misfit":"isOwn is not a boolean"').and.contain('"level":"WARN"');
  });

  it("are a fault of the builder if they are not contracts", () => {
    const { diagnostics } = startupErrorOf(() =>
      Application.create()
        .pageContracts({} as never)
        .build(),
    );

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_STAGE"]);
  });
});

describe("PageContractsLayer", () => {
  it("obeys the layer contract", () => obeysLayerContract(new PageContractsLayer(new PageContracts())));
});
