/** The transcripts of docs/guide/command.md show the output of today. After an intended change `RECORD=1 npx mocha --grep transcripts` writes them anew. */
import { expect } from "chai";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApplicationFolder, runBin } from "../support/application-folder.js";
import { firstBlock, ROOT, textOf } from "../support/sources.js";

const PAGE = "docs/guide/command.md";
const BLOCK = /^```console\n([\s\S]*?)^```/gm;
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
    using folder = new ApplicationFolder({ "app.js": firstBlock(PAGE, "ts"), "package.json": PACKAGE });

    let again = page;
    for (const [whole, block = ""] of page.matchAll(BLOCK))
      again = again.replace(whole, await replayBlock(block, folder));

    if (process.env["RECORD"] === "1") writeFileSync(join(ROOT, PAGE), again);
    else expect(lasting(page), "RECORD=1 npx mocha --grep transcripts").to.equal(lasting(again));
  });
});
