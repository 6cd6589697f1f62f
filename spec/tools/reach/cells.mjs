/** The cells: how each tool runs the program that `createProject` has written. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { served } from "./served.mjs";
import { binOf, execute, node, platformBin } from "./tools.mjs";

/** @type {readonly Cell[]} `short` cells are those of `--short`. */
export const CELLS = [
  ...["5.9", "6", "7"].map((version) => ({
    tool: "tsc",
    package: `typescript-${version}`,
    set: "the settings of [first steps](first-steps.md#a-server)",
    start: (folder) => tsc(folder, version),
  })),
  {
    tool: "tsc, in a CommonJS project",
    package: "typescript-7",
    set: '`"module": "node20"` or `"nodenext"`',
    project: { type: "commonjs", module: "node20" },
    start: (folder) => tsc(folder, "7"),
  },
  {
    tool: "swc",
    package: "@swc/core",
    set: "`jsc.parser.decorators`, `jsc.transform.legacyDecorator`; for types also `decoratorMetadata`",
    short: true,
    start: swc,
  },
  { tool: "esbuild", package: "esbuild", set: "`experimentalDecorators`", short: true, start: esbuild },
  {
    tool: "esbuild, one bundle of ESM",
    package: "esbuild",
    set: "`experimentalDecorators`, and the [banner](#bundles)",
    short: true,
    start: (folder) => esbuildBundle(folder, "esm"),
  },
  {
    tool: "esbuild, one bundle of CommonJS",
    package: "esbuild",
    set: "`experimentalDecorators`",
    start: (folder) => esbuildBundle(folder, "cjs"),
  },
  {
    tool: "tsx",
    package: "tsx",
    set: "`experimentalDecorators`",
    short: true,
    start: (folder) => served(folder, process.execPath, binOf("tsx"), "main.ts"),
  },
  {
    tool: "tsx, in a CommonJS project",
    package: "tsx",
    set: "`experimentalDecorators`",
    project: { type: "commonjs" },
    start: (folder) => served(folder, process.execPath, binOf("tsx"), "main.ts"),
  },
  {
    tool: "vite-node",
    package: "vite-node",
    set: "`experimentalDecorators`",
    start: (folder) => served(folder, process.execPath, binOf("vite-node"), "main.ts"),
  },
  {
    tool: "vitest",
    package: "vitest-4",
    set: "`experimentalDecorators`",
    start: (folder) => vitest(folder, "vitest-4"),
  },
  {
    tool: "vitest",
    package: "vitest-5",
    set: "`experimentalDecorators`",
    start: (folder) => vitest(folder, "vitest-5"),
  },
  { tool: "Jest, with `@swc/jest`", package: "jest", set: "[four settings](#jest)", start: jest },
  {
    tool: "Rspack, one bundle of ESM",
    package: "@rspack/core",
    set: "`builtin:swc-loader` with the settings of swc, and a [minimizer that keeps names](#bundles)",
    start: rspack,
  },
  {
    tool: "Bun",
    package: "bun",
    set: "`experimentalDecorators`",
    start: (folder) => served(folder, platformBin("bun", "bin/bun"), "main.ts"),
  },
  {
    tool: "Deno",
    package: "deno",
    set: "`experimentalDecorators` in `deno.json`",
    start: deno,
  },
  {
    tool: "Node, without a tool",
    version: "22",
    set: "nothing helps: [routes without decorators](routing.md#without-decorators) work",
    start: typeStripping,
  },
];

/** Node 22 strips types without a flag. */
async function typeStripping(folder) {
  await execute("npx", ["--yes", "--package", "node@22", "--call", "node main.ts"], { cwd: folder });
}

async function tsc(folder, version) {
  await node(folder, binOf(`typescript-${version}`, "tsc"), "-p", ".");
  await served(folder, process.execPath, "out/main.js");
}

const SWC = (style) => ({
  target: "es2022",
  parser: { syntax: "typescript", decorators: true },
  transform:
    style === "standard"
      ? { decoratorVersion: "2022-03" }
      : { legacyDecorator: true, decoratorMetadata: style === "types" },
});

async function swc(folder, style) {
  const { transform } = await import("@swc/core");
  const source = readFileSync(join(folder, "main.ts"), "utf8");
  const { code } = await transform(source, {
    configFile: false,
    swcrc: false,
    jsc: SWC(style),
    module: { type: "es6" },
  });
  writeFileSync(join(folder, "main.js"), code);
  await served(folder, process.execPath, "main.js");
}

/** Without a target esbuild leaves standard decorators in its output. */
const TARGET = "es2022";

async function esbuild(folder) {
  const { build } = await import("esbuild");
  await build({ absWorkingDir: folder, entryPoints: ["main.ts"], outdir: ".", platform: "node", target: TARGET });
  await served(folder, process.execPath, "main.js");
}

const BANNER = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

async function esbuildBundle(folder, format) {
  const { build } = await import("esbuild");
  const outfile = format === "esm" ? "bundle.mjs" : "bundle.cjs";
  const banner = format === "esm" ? { js: BANNER } : {};
  await build({
    absWorkingDir: folder,
    entryPoints: ["main.ts"],
    outfile,
    bundle: true,
    platform: "node",
    target: TARGET,
    format,
    banner,
  });
  await served(folder, process.execPath, outfile);
}

async function rspack(folder, style) {
  const { rspack: create } = await import("@rspack/core");
  const names = { keep_classnames: true, keep_fnames: true };
  const minimizer = new create.SwcJsMinimizerRspackPlugin({ minimizerOptions: { compress: names, mangle: names } });
  const compiler = create({
    context: folder,
    mode: "production",
    target: "node20",
    entry: "./main.ts",
    resolve: { extensions: [".ts", ".js"] },
    module: { rules: [{ test: /\.ts$/, loader: "builtin:swc-loader", options: { jsc: SWC(style) } }] },
    optimization: { minimizer: [minimizer] },
    experiments: { outputModule: true },
    output: { path: join(folder, "out"), filename: "main.mjs", module: true, chunkFormat: "module" },
  });
  const stats = await new Promise((resolve, reject) => {
    compiler.run((error, result) => (error ? reject(error) : resolve(result)));
  });
  await new Promise((resolve) => compiler.close(resolve));
  if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  await served(folder, process.execPath, "out/main.mjs");
}

/** vitest 5 does not run on Node 20. */
async function vitest(folder, name) {
  const args = [binOf(name, "vitest"), "run", "--globals", "--root", folder, "--testTimeout", "60000"];
  const enough = Number(process.versions.node.split(".")[0]) >= 22 || name === "vitest-4";
  if (enough) await node(folder, ...args);
  else await execute("npx", ["--yes", "--package", "node@22", "--call", ["node", ...args].join(" ")], { cwd: folder });
}

async function jest(folder, style) {
  const config = {
    rootDir: folder,
    haste: { forceNodeFilesystemAPI: true },
    extensionsToTreatAsEsm: [".ts"],
    testMatch: ["<rootDir>/*.test.ts"],
    transform: {
      "\\.ts$": [
        fileURLToPath(import.meta.resolve("@swc/jest")),
        { jsc: SWC(style), swcrc: false, module: { type: "es6" } },
      ],
    },
  };
  await node(folder, "--experimental-vm-modules", binOf("jest"), "--config", JSON.stringify(config));
}

async function deno(folder) {
  const { compilerOptions } = JSON.parse(readFileSync(join(folder, "tsconfig.json"), "utf8"));
  const { experimentalDecorators, emitDecoratorMetadata } = compilerOptions;
  writeFileSync(
    join(folder, "deno.json"),
    JSON.stringify({ nodeModulesDir: "manual", compilerOptions: { experimentalDecorators, emitDecoratorMetadata } }),
  );
  const bin = platformBin("deno", "deno");
  await served(folder, bin, "run", "--allow-all", "main.ts");
}
