/** Help and errors of use load neither the application nor the framework. That no application loads a file of the command is a rule of walls.spec.ts. */
import { expect } from "chai";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ApplicationFolder, runBin } from "../support/application-folder.js";
import { compiledFrom, ROOT } from "../support/sources.js";

/** Writes the URL of each script of the process to the file that `LOADED` names. */
const PRELOAD = `
  import { Session } from "node:inspector";
  import { writeFileSync } from "node:fs";
  const urls = [];
  const session = new Session();
  session.connect();
  session.on("Debugger.scriptParsed", ({ params }) => urls.push(params.url));
  session.post("Debugger.enable");
  process.on("exit", () => writeFileSync(process.env.LOADED, JSON.stringify(urls)));
`;

async function listLoaded(...args: readonly string[]): Promise<readonly string[]> {
  using folder = new ApplicationFolder({ "app.js": "throw new Error('loaded');" });
  const file = join(folder.path, "loaded.json");
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}`;
  await runBin(args, { cwd: folder.path, env: { LOADED: file, NODE_OPTIONS } });
  const urls = JSON.parse(readFileSync(file, "utf8")) as readonly string[];
  return urls
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
