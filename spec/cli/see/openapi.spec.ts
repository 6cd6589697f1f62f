import { expect } from "chai";
import { ApplicationFolder } from "../../support/application-folder.js";

/** @param path the path of the second route */
function application(path: string, calls = ""): string {
  return `
    import { Application, Get, Reply, Route, Routes, routes } from "@stagecraft/framework";
    const notes = routes("notes", "/notes", { index: Get("/"), other: Get("${path}") });
    const all = [notes.index, notes.other].map((endpoint) => Route.of(endpoint, () => Reply.json([])));
    export default () => Application.create().routes(new Routes(all))${calls};
  `;
}

describe("stagecraft openapi", () => {
  it("writes the document of the application", async () => {
    using folder = new ApplicationFolder({ "app.js": application("/latest") });

    const { code, stdout } = await folder.call("openapi");

    expect(code).to.equal(0);
    expect(Object.keys(JSON.parse(stdout).paths)).to.deep.equal(["/notes", "/notes/latest"]);
  });

  it("writes that of .apiDocs(…) where the application has one", async () => {
    const docs = '.apiDocs({ info: { title: "Notes", version: "2.1.0" } })';
    using folder = new ApplicationFolder({ "app.js": application("/latest", docs) });

    const { stdout } = await folder.call("openapi");

    expect(JSON.parse(stdout).info).to.deep.equal({ title: "Notes", version: "2.1.0" });
  });

  it("passes a check against its output, and fails one in which an operation is missing", async () => {
    using folder = new ApplicationFolder({ "app.js": application("/latest"), "other.js": application("/newest") });
    folder.write("openapi.json", (await folder.call("openapi")).stdout);

    const same = await folder.call("openapi", "--check", "openapi.json");
    const other = await folder.call("openapi", "--check", "openapi.json", "--app", "other.js");

    expect(same).to.deep.equal({ code: 0, stdout: "", stderr: "" });
    expect(other.code).to.equal(1);
    expect(other.stdout).to.include("breaking  GET /notes/latest: the operation is missing");
    expect(other.stderr).to.match(/^1 of \d+ changes since openapi\.json break a client\n$/);
  });

  it("writes the changes as JSON", async () => {
    using folder = new ApplicationFolder({ "app.js": application("/latest") });
    folder.write("openapi.json", (await folder.call("openapi")).stdout);

    const { stdout } = await folder.call("openapi", "--check", "openapi.json", "--json");

    expect(JSON.parse(stdout)).to.deep.equal([]);
  });
});
