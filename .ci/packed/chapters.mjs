/**
 * Builds the programs of the guide as a user does: in an empty folder, from the packed package, with the settings of the guide and nothing
 * but the packages that the chapter says to install. pnpm builds each chapter alone, because it hides the packages of packages; npm and
 * Yarn build all chapters in one folder. The chapter on the front end is also checked with its own settings and built by Vite.
 * Usage: node chapters.mjs <package file>
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { guidePrograms, recommendedSettings } from "../../dist/spec/support/guide-programs.js";

const [tarball] = process.argv.slice(2);
const guide = new URL("../../docs/guide/", import.meta.url);
const { devDependencies } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const work = mkdtempSync(join(tmpdir(), "chapters-"));

/** Chapters that continue another one. */
const CONTINUES = {
  "front-end": ["pages"],
  migrations: ["databases"],
  transactions: ["databases"],
  "testing-databases": ["databases", "testing"],
};
const MANAGERS = {
  npm: { add: ["npm", "install", "--no-audit", "--no-fund", "--silent"], settings: {} },
  pnpm: { add: ["npx", "--yes", "pnpm@10", "add", "--silent"], settings: {} },
  yarn: {
    add: ["npx", "--yes", "--package", "@yarnpkg/cli-dist@4", "yarn", "add"],
    settings: { ".yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\n", "yarn.lock": "" },
  },
};

const textOf = (chapter) => readFileSync(new URL(`${chapter}.md`, guide), "utf8");
const chapters = readdirSync(guide).flatMap((file) => (file.endsWith(".md") ? [file.slice(0, -3)] : []));

/** What a chapter says to install; where it names two versions of a package, the first one. */
function packagesOf(chapter) {
  const lines = [...textOf(chapter).matchAll(/npm install ([^#`&\n]+)/g)].flatMap(([, names]) =>
    names
      .trim()
      .split(/\s+/)
      .filter((name) => !name.startsWith("-")),
  );
  const byName = new Map(lines.toReversed().map((each) => [/^(@?[^@]+)/.exec(each)[1], each]));
  return [...byName]
    .filter(([name]) => name !== "@stagecraft/framework")
    .map(([name, each]) => (each === name ? pinned(name) : each));
}

const pinned = (name) => (name in devDependencies ? `${name}@${devDependencies[name]}` : name);

/** The files of the front end, each with its path in its first line. */
function frontEndFiles() {
  const blocks = textOf("front-end").matchAll(
    /^```(?:tsx?|js|json)\n\/\/ ((?:pages\/[\w./-]+|vite\.config\.js))\n([\s\S]*?)^```/gm,
  );
  return [...blocks].map(([, path, code]) => [path, code]);
}

async function run(folder, command, ...args) {
  try {
    await promisify(execFile)(command, args, { cwd: folder, env: { ...process.env, CI: "" }, maxBuffer: 1e8 });
  } catch ({ stdout, stderr, message }) {
    throw new Error(`${folder}: ${message}\n${stdout}\n${stderr}`);
  }
}

async function build(manager, names) {
  const folder = mkdtempSync(join(work, `${manager}-`));
  const { add, settings } = MANAGERS[manager];
  const save = (path, text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(settings)) save(path, text);
  save("package.json", JSON.stringify({ name: "reader", version: "1.0.0", type: "module", private: true }));
  save("tsconfig.json", recommendedSettings());
  const all = [...new Set([...names, ...names.flatMap((name) => CONTINUES[name] ?? [])])];
  const programs = guidePrograms().filter(({ path, message }) => message === undefined && all.includes(dirname(path)));
  // In a folder for each chapter, but where a chapter names another one's file.
  const isAlone = names.length === 1;
  for (const { path, code } of programs) save(join("src", isAlone ? path.slice(path.indexOf("/") + 1) : path), code);
  const packages = new Set(["first-steps", ...all].flatMap(packagesOf));
  await run(folder, ...add, `@stagecraft/framework@file:${tarball}`, ...packages);
  if (programs.length > 0) await run(folder, "npx", "tsc", "-p", ".");
  if (isAlone && names[0] === "front-end") await buildFrontEnd(folder, save);
  rmSync(folder, { recursive: true, force: true });
  console.log(`${manager} builds ${isAlone ? names[0] : "all chapters"}: ${programs.length} programs`);
}

async function buildFrontEnd(folder, save) {
  const files = frontEndFiles();
  assert.ok(files.some(([path]) => path === "pages/tsconfig.json") && files.length > 5, "the chapter shows its files");
  for (const [path, text] of files) save(path, text);
  await run(folder, "npx", "tsc", "-p", "pages");
  await run(folder, "npx", "vite", "build");
  await run(folder, "npx", "vite", "build", "--ssr", "pages/server.tsx", "--outDir", "dist/pages");
}

const withPrograms = chapters.filter((name) => guidePrograms().some(({ path }) => dirname(path) === name));
assert.ok(withPrograms.includes("front-end") && withPrograms.length > 20);
const tasks = [
  () => build("npm", withPrograms),
  () => build("yarn", withPrograms),
  () => build("npm", ["front-end"]),
  () => build("yarn", ["front-end"]),
  ...withPrograms.map((name) => () => build("pnpm", [name])),
];
const failures = [];
try {
  await Promise.all(
    [1, 2].map(async () => {
      for (let task = tasks.shift(); task !== undefined; task = tasks.shift())
        await task().catch((error) => failures.push(error));
    }),
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}
for (const { message } of failures) console.error(message);
assert.equal(failures.length, 0, "every chapter builds");
