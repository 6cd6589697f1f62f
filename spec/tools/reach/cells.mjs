/** The cells: the tools, and what each must be told. */
import { served } from "./served.mjs";
import * as starts from "./starts.mjs";
import { nodeOf, platformBin } from "./tools.mjs";

/** CommonJS has no `await` at the top level. */
const COMMON_JS = { type: "commonjs" };
const AFTER_ESBUILD = "an [esbuild plugin](#vite) before Vite";

/** Versions of Node that strip types without a flag. */
export const NODES = [22, 24, 26];

/** @type {readonly Cell[]} `short` cells are those of `--short`. */
export const CELLS = [
  ...["5.9", "6", "7"].map((version) => ({
    tool: "tsc",
    package: `typescript-${version}`,
    set: "the settings of [first steps](first-steps.md#a-server)",
    start: (folder) => starts.tsc(folder, version),
  })),
  {
    tool: "tsc, in a CommonJS project",
    package: "typescript-7",
    set: '`"module": "node20"` or `"nodenext"`',
    project: { ...COMMON_JS, module: "node20" },
    start: (folder) => starts.tsc(folder, "7"),
  },
  {
    tool: "swc",
    package: "@swc/core",
    set: "`jsc.parser.decorators`, `jsc.transform.legacyDecorator`; for types also `decoratorMetadata`",
    short: true,
    start: starts.swc,
  },
  { tool: "esbuild", package: "esbuild", set: "`experimentalDecorators`", short: true, start: starts.esbuild },
  {
    tool: "esbuild, one bundle of ESM",
    package: "esbuild",
    set: "`experimentalDecorators`, and the [banner](#bundles)",
    short: true,
    start: (folder) => starts.esbuildBundle(folder, "esm"),
  },
  {
    tool: "esbuild, one bundle of CommonJS",
    package: "esbuild",
    set: "`experimentalDecorators`",
    project: COMMON_JS,
    start: (folder) => starts.esbuildBundle(folder, "cjs"),
  },
  {
    tool: "tsx",
    package: "tsx",
    set: "`experimentalDecorators`",
    short: true,
    start: starts.tsx,
  },
  {
    tool: "tsx, in a CommonJS project",
    package: "tsx",
    set: "`experimentalDecorators`",
    project: COMMON_JS,
    start: starts.tsx,
  },
  {
    tool: "vite-node",
    package: "vite-node",
    set: "`experimentalDecorators`, and [`server.middlewareMode`](#vite)",
    start: starts.viteNode,
  },
  {
    tool: "vitest",
    package: "vitest-4",
    set: "`experimentalDecorators`",
    start: (folder) => starts.vitest(folder, "vitest-4"),
  },
  {
    tool: "vitest",
    package: "vitest-5",
    set: "`experimentalDecorators`, and Node 22",
    start: (folder) => starts.vitest(folder, "vitest-5"),
  },
  {
    tool: "vitest, in a CommonJS project",
    package: "vitest-5",
    set: "`experimentalDecorators`, and Node 22",
    project: COMMON_JS,
    start: (folder) => starts.vitest(folder, "vitest-5"),
  },
  {
    tool: "vitest, with esbuild",
    package: "vitest-4",
    set: AFTER_ESBUILD,
    start: (folder) => starts.vitestAfterEsbuild(folder, "vitest-4"),
  },
  {
    tool: "vitest, with esbuild",
    package: "vitest-5",
    set: `${AFTER_ESBUILD}, and Node 22`,
    start: (folder) => starts.vitestAfterEsbuild(folder, "vitest-5"),
  },
  { tool: "Jest, with `@swc/jest`", package: "jest", set: "[four settings](#jest)", start: starts.jest },
  {
    tool: "Jest, tests in CommonJS",
    package: "jest",
    set: "[the same](#jest), and Node 24",
    project: COMMON_JS,
    start: starts.jestInCommonJs,
  },
  {
    tool: "Rspack, one bundle of ESM",
    package: "@rspack/core",
    set: "`builtin:swc-loader` with the settings of swc, and a [minimizer that keeps names](#bundles)",
    start: starts.rspack,
  },
  {
    tool: "Bun",
    short: true,
    package: "bun",
    set: "`experimentalDecorators`",
    start: (folder) => served(folder, platformBin("bun", "bin/bun"), "main.ts"),
  },
  {
    tool: "Bun, in a CommonJS project",
    package: "bun",
    set: "`experimentalDecorators`",
    project: COMMON_JS,
    start: (folder) => served(folder, platformBin("bun", "bin/bun"), "main.ts"),
  },
  {
    tool: "Deno",
    short: true,
    package: "deno",
    set: "`experimentalDecorators` in `deno.json`",
    start: starts.deno,
  },
  {
    tool: "Node, without a tool",
    version: "22 to 26",
    set: "nothing helps: [plain classes](#without-settings) work",
    start: async (folder) => {
      for (const version of NODES) await nodeOf(version, folder, "main.ts");
    },
  },
];
