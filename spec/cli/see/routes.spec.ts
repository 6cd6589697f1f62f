import { expect } from "chai";
import { ApplicationFolder } from "../../support/application-folder.js";

describe("stagecraft routes", () => {
  it("lists method, path, name and handler of each route", async () => {
    using folder = new ApplicationFolder();

    const { code, stdout } = await folder.call("routes");

    expect(code).to.equal(0);
    expect(stdout.split("\n")).to.deep.equal([
      "METHOD  PATH         NAME        HANDLER",
      "GET     /links/{id}  links.show  show",
      "POST    /links                   create",
      "",
    ]);
  });

  it("writes them as one JSON value", async () => {
    using folder = new ApplicationFolder();

    const { stdout } = await folder.call("routes", "--json");

    expect(JSON.parse(stdout)).to.deep.equal([
      { method: "GET", path: "/links/{id}", name: "links.show", handler: "show" },
      { method: "POST", path: "/links", handler: "create" },
    ]);
  });

  it("says so where there are none", async () => {
    using folder = new ApplicationFolder({
      "app.js": 'import { Application } from "@stagecraft/framework"; export default Application.create();',
    });

    expect(await folder.call("routes")).to.include({ code: 0, stdout: "the application has no routes\n" });
  });
});
