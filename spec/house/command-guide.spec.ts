/** The transcripts of docs/guide/command.md show the output of today. After an intended change `RECORD=1 npx mocha --grep transcripts` writes them anew. */
import { expect } from "chai";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApplicationFolder, runBin } from "../support/application-folder.js";
import { transform } from "../../lib/cli/application/transform.js";
import { ROOT, textOf } from "../support/sources.js";

const PAGE = "docs/guide/command.md";
const BLOCK = /^```console\n([\s\S]*?)^```/gm;
const PROGRAM = /^```ts\n(\/\/ ([\w-]+)\.ts\n[\s\S]*?)^```/gm;
const PACKAGE = JSON.stringify({ type: "module", stagecraft: { app: "app.js" } });

/** `npx stagecraft routes > FILE` */
async function runLine(line: string, folder: ApplicationFolder): Promise<string> {
  const [call = "", file] = line.replace(/^\$ npx stagecraft /, "").split(" > ");
  const { stdout, stderr } = await runBin(call.split(" "), { cwd: folder.path, env: { PORT: "0" } });
  if (file === undefined) return withoutPlace(stdout + stderr);
  folder.write(file, stdout);
  return stderr;
}

/** The time and the user of a change of the maintenance are those of the guide. */
function withoutPlace(text: string): string {
  return text
    .replaceAll(/since \S+Z, by \S+/g, "since 2026-11-27T09:00:00.000Z, by deploy@web-1")
    .replaceAll(/"since":"[^"]*","by":"[^"]*"/g, '"since":"2026-11-27T09:00:00.000Z","by":"deploy@web-1"');
}

async function replayBlock(block: string, folder: ApplicationFolder): Promise<string> {
  let text = "";
  for (const line of block.split("\n").filter((each) => each.startsWith("$ ")))
    text += `${line}\n${await runLine(line, folder)}`;
  return `\`\`\`console\n${text}\`\`\``;
}

/** The programs of the page: those with decorators compiled, the others as they are, so that places are those of the page. */
function programs(page: string): Readonly<Record<string, string>> {
  const found = [...page.matchAll(PROGRAM)].map(([, text = "", name = ""]): readonly [string, string] => {
    if (!text.includes("@Command")) return [`${name}.js`, text];
    const compiled = transform({ text, name: `${name}.ts` }, { experimentalDecorators: true });
    if ("fault" in compiled) throw new Error(compiled.fault.message);
    return [`${name}.js`, compiled.code];
  });
  return Object.fromEntries(found);
}

/** Without what differs between machines: the row of Node, the count of the warnings, and variables of the spec. */
function lasting(page: string): string {
  return page
    .replaceAll(/^(?:ok|warn) +node .*\n(?: +fix: install Node.*\n)?/gm, "")
    .replaceAll(/^\d warnings?$/gm, "<n> warnings");
}

describe("the guide of the command", () => {
  it("has transcripts that show the output of each command", async function () {
    this.timeout(120_000);
    const page = textOf(PAGE) ?? "";
    using folder = new ApplicationFolder({ ...programs(page), "package.json": PACKAGE });
    folder.install("zod");

    let again = page;
    for (const [whole, block = ""] of page.matchAll(BLOCK))
      again = again.replace(whole, await replayBlock(block, folder));

    if (process.env["RECORD"] === "1") writeFileSync(join(ROOT, PAGE), again);
    else expect(lasting(page), "RECORD=1 npx mocha --grep transcripts").to.equal(lasting(again));
  });
});
