/**
 * Compilers of applications: whether each keeps the types of constructor parameters, which injection reads. All compile the same small
 * application; the result is that of its start.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { shownVersion } from "./programs.mjs";

const { resolve } = createRequire(import.meta.url);

const SOURCE = `
import { Application, Controller, Get, Injectable, Module } from "../../../../../dist/lib/entries/main.js";

@Injectable()
class Greeting {
  readonly text = "hello";
}

@Controller("/")
class Hello {
  constructor(private readonly greeting: Greeting) {}

  @Get("/")
  show() {
    return this.greeting.text;
  }
}

@Module({ controllers: [Hello], providers: [Greeting] })
class Root {}

Application.create(Root).build();
`;

const TEST = `
import { it } from "vitest";

it("starts", () => import("./app.ts"));
`;

const SETTINGS = JSON.stringify({
  compilerOptions: { target: "ES2022", module: "NodeNext", experimentalDecorators: true, emitDecoratorMetadata: true },
});

const COMPILERS = [
  { package: "@swc/core", use: "`decoratorMetadata` and `legacyDecorator`", start: (folder) => swc(folder, true) },
  { package: "@swc/core", use: "`legacyDecorator` alone", start: (folder) => swc(folder, false) },
  {
    package: "vitest",
    use: "`emitDecoratorMetadata`, on Vite 8",
    start: (folder) => node(folder, binOf("vitest"), "run", "--root", folder, "--testTimeout", "60000"),
  },
  { package: "esbuild", use: "`emitDecoratorMetadata`", start: esbuild },
  { package: "tsx", use: "`emitDecoratorMetadata`", start: (folder) => node(folder, binOf("tsx"), "app.ts") },
];

/** A row for the table for each: `[program, result]`. */
export async function compilerRows() {
  const parent = mkdtempSync(fileURLToPath(new URL("compiled-", import.meta.url)));
  try {
    const rows = [];
    for (const compiler of COMPILERS) {
      const { version } = packageOf(compiler.package);
      rows.push([
        { ...compiler, version: shownVersion(version) },
        await resultOf(compiler, mkdtempSync(join(parent, "app-"))),
      ]);
    }
    return rows;
  } finally {
    rmSync(parent, { recursive: true });
  }
}

async function resultOf({ start }, folder) {
  for (const [name, text] of Object.entries({ "app.ts": SOURCE, "app.test.ts": TEST, "tsconfig.json": SETTINGS })) {
    writeFileSync(join(folder, name), text);
  }
  try {
    await start(folder);
    return "works";
  } catch ({ stdout = "", stderr = "" }) {
    const code = /\bE_[A-Z_]+\b/.exec(stdout + stderr)?.[0];
    if (code === undefined) throw new Error(`no start, and no reason: ${stdout}${stderr}`);
    return `does not start: \`${code}\``;
  }
}

async function swc(folder, decoratorMetadata) {
  const { transform } = await import("@swc/core");
  const jsc = {
    target: "es2022",
    parser: { syntax: "typescript", decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata },
  };
  const { code } = await transform(SOURCE, { configFile: false, swcrc: false, jsc, module: { type: "es6" } });
  await run(folder, code);
}

async function esbuild(folder) {
  const { transform } = await import("esbuild");
  const { code } = await transform(SOURCE, { loader: "ts", tsconfigRaw: SETTINGS });
  await run(folder, code);
}

async function run(folder, code) {
  writeFileSync(join(folder, "app.mjs"), code);
  await node(folder, "app.mjs");
}

function node(cwd, ...args) {
  const settings = { cwd, env: { ...process.env, NO_COLOR: "1" }, timeout: 60_000 };
  return promisify(execFile)(process.execPath, args, settings);
}

function binOf(name) {
  const { bin } = packageOf(name);
  return join(dirname(resolve(`${name}/package.json`)), typeof bin === "string" ? bin : bin[name]);
}

function packageOf(name) {
  return JSON.parse(readFileSync(resolve(`${name}/package.json`), "utf8"));
}
