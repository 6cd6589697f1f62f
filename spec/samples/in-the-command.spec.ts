import { expect } from "chai";
import { STAGES } from "../../lib/pipeline/table.js";
import { runBin } from "../support/application-folder.js";
import { ROOT } from "../support/sources.js";

/** Each sample, with a request that it handles and the name of one of its modules. */
const SAMPLES: readonly (readonly [name: string, path: string, module: string])[] = [
  ["hello", "/hello/Ada", "HelloModule"],
  ["notes", "/notes/7", "NotesModule"],
  ["links", "/api/links", "LinksModule"],
  ["conduit", "/api/tags", "ArticlesModule"],
];

// Each process has to end by itself, so the import of a sample has started nothing that the command waits for.
describe("the samples in the command", function () {
  this.timeout(60_000);

  for (const [name, path, module] of SAMPLES) {
    it(`are shown: ${name}`, async () => {
      const commands = [["routes"], ["pipeline"], ["graph"], ["explain", "GET", path]];
      const runs = await Promise.all(
        commands.map((command) =>
          runBin([...command, "--json", "--app", `samples/${name}/app.ts`], { cwd: ROOT, env: { DATABASE_URL: "" } }),
        ),
      );

      const [routes = "", pipeline = "", graph, explained = ""] = runs.map(({ stdout }) => stdout);
      expect(runs.map(({ code, stderr }) => [code, stderr])).to.deep.equal(runs.map(() => [0, ""]));
      expect(JSON.parse(routes)).to.have.property("length").above(0);
      expect(JSON.parse(pipeline)).to.have.length(STAGES.length);
      expect(graph).to.include(`"name":"${module}"`);
      expect(JSON.parse(explained)).to.have.nested.property("route.method", "GET");
    });
  }
});
