import { expect } from "chai";
import { ApplicationFolder } from "../../support/application-folder.js";

/** @param routes the routes of the builder */
function application(routes: string): string {
  return `
    import { Application, Module, Route, Routes } from "@stagecraft/framework";
    class Accounts {}
    class AccountsModule {}
    Module({ providers: [Accounts] })(AccountsModule);
    class ShopModule {}
    Module({ imports: [AccountsModule] })(ShopModule);
    function show() {}
    export default () => Application.create(ShopModule).routes(new Routes([${routes}]));
  `;
}

const FILES = {
  "app.js": application('Route.get("/links", show), Route.get("/tags", show)'),
  "other.js": application('Route.get("/links", show, { csrf: "exempt" }), Route.post("/links", show)'),
};

describe("stagecraft graph", () => {
  it("lists the modules with what is in them, and the routes of the builder", async () => {
    using folder = new ApplicationFolder(FILES);

    const { code, stdout } = await folder.call("graph");

    expect(code).to.equal(0);
    expect(stdout.split("\n")).to.deep.equal([
      "ShopModule",
      "  imports: AccountsModule",
      "AccountsModule",
      "  providers: Accounts",
      "(the builder)",
      "  GET /links → show",
      "  GET /tags → show",
      "",
    ]);
  });

  it("draws the imports of the modules for Mermaid", async () => {
    using folder = new ApplicationFolder(FILES);

    const { stdout } = await folder.call("graph", "--mermaid");

    expect(stdout).to.equal('flowchart LR\n  m0["ShopModule"]\n  m1["AccountsModule"]\n  m0 --> m1\n');
  });

  it("lists the differences from a graph that it has written", async () => {
    using folder = new ApplicationFolder(FILES);
    folder.write("graph.json", (await folder.call("graph", "--json")).stdout);

    const same = await folder.call("graph", "--diff", "graph.json");
    const other = await folder.call("graph", "--diff", "graph.json", "--app", "other.js");

    expect(same).to.deep.equal({ code: 0, stdout: "the graphs are equal\n", stderr: "" });
    expect(other.code).to.equal(0);
    expect(other.stdout).to.equal("removed route GET /tags\nchanged route GET /links\nadded route POST /links\n");
  });

  it("refuses a file that is no graph, and two forms at once", async () => {
    using folder = new ApplicationFolder(FILES);

    expect(await folder.call("graph", "--diff", "package.json")).to.include({ code: 1 });
    expect(await folder.call("graph", "--diff", "app.js")).to.include({ code: 1 });
    expect(await folder.call("graph", "--mermaid", "--json")).to.include({ code: 2 });
  });
});
