/** Help and errors of use load neither the application nor the framework. That no application loads a file of the command is a rule of walls.spec.ts. */
import { expect } from "chai";
import { ApplicationFolder, runBin } from "../support/application-folder.js";
import { LoadedModules } from "../support/loaded-modules.js";
import { compiledFrom, ROOT } from "../support/sources.js";

async function listLoaded(...args: readonly string[]): Promise<readonly string[]> {
  using folder = new ApplicationFolder({ "app.js": "throw new Error('loaded');" });
  using loaded = new LoadedModules();
  await runBin(args, { cwd: folder.path, env: loaded.env });
  return loaded
    .listScripts()
    .filter((url) => url.includes(ROOT) || url.includes(folder.path))
    .map((url) => url.slice(url.indexOf(ROOT) + ROOT.length))
    .flatMap((path) => (path.startsWith("dist/lib/") ? compiledFrom(path) : [path]));
}

describe("the command loads", () => {
  for (const args of [["--help"], ["routes", "--help"], ["rotues"], []]) {
    it(`only its table and the parser for "stagecraft ${args.join(" ")}"`, async () => {
      const loaded = await listLoaded(...args);

      const table =
        /^node_modules\/commander\/|^lib\/(?:server\/signals|app\/workers\/asked-workers)\.ts$|^lib\/cli\/(?:(?:main|program|command|text-table)|\w+\/(?:rows?|kind-names|kinds|options|command-list|find-upwards))\.ts$/;
      expect(loaded).to.include("lib/cli/program.ts");
      expect(loaded.filter((path) => !table.test(path))).to.deep.equal([]);
    });
  }
});
