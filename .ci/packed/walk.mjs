/**
 * Follows a document in an empty folder with the packed package, block by block, as a new user does: saves the programs and the settings,
 * runs the commands, serves the program, and compares the responses with those in the document.
 * Usage: node walk.mjs <document> <package file>
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child } from "../../dist/spec/support/child.js";
import { lasting, replay } from "../../dist/spec/support/transcripts.js";

const [path, tarball] = process.argv.slice(2);
const page = readFileSync(path, "utf8");
const folder = mkdtempSync(join(tmpdir(), "walk-"));
const { devDependencies } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const began = Date.now();

const save = (file, text) => {
  mkdirSync(join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, file), text);
};

/** The package comes from the file, and the other packages in the versions of this repository. */
const installed = (line) =>
  line
    .replace("npm install @stagecraft/framework", `npm install ${tarball}`)
    .replaceAll(/ (typescript|@types\/node|zod)\b/g, (_, name) => ` ${name}@${devDependencies[name]}`);

/** Shows the output of a command that fails: tsc and the test runner write their errors to standard output. */
const run = (line) => {
  try {
    execFileSync("sh", ["-c", line], { cwd: folder, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
  } catch (error) {
    console.error(error.stdout);
    throw error;
  }
};

/** A program without a name is the application, or runs it. */
const getDefaultName = (code) => (code.includes(".run()") ? "main.ts" : "app.ts");

const takeStep = {
  ts: (code) => save(`src/${/^\/\/ ([\w.-]+\.ts)\n/.exec(code)?.[1] ?? getDefaultName(code)}`, code),
  json: (code) => save("tsconfig.json", code),
  sh: (code) => {
    // The transcript after the block serves the program.
    for (const line of code
      .trim()
      .split("\n")
      .filter((each) => !each.startsWith("node dist/main.js"))) {
      console.log(`$ ${line}`);
      run(installed(line));
    }
  },
  console: async (_code, block) => {
    const written = `<!-- served by main -->\n\n${block}\n`;
    const replayed = await replay(written, (_name, cwd) => Child.start(join(folder, "dist/main.js"), {}, { cwd }));
    assert.equal(lasting(replayed), lasting(written));
  },
};

const BLOCK = /(<!-- does not compile -->\n\n)?^(```(ts|json|sh|console)\n([\s\S]*?)^```)/gm;
const steps = [...page.matchAll(BLOCK)].filter(([, isWrong]) => isWrong === undefined);
try {
  for (const [, , block, language, code] of steps) await takeStep[language](code, block);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
assert.ok(
  steps.some(([, , , language]) => language === "console"),
  `${path} shows no response`,
);
console.log(`${path} works as written, ${steps.length} blocks in ${Math.round((Date.now() - began) / 1000)} s`);
