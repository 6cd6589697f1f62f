/** How each tool compiles and runs the program that `createProject` has written. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { served } from "./served.mjs";
import { binOf, execute, node, nodeOf, platformBin } from "./tools.mjs";

export async function tsc(folder, version) {
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

export async function swc(folder, style) {
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

export async function esbuild(folder) {
  const { build } = await import("esbuild");
  await build({ absWorkingDir: folder, entryPoints: ["main.ts"], outdir: ".", platform: "node", target: TARGET });
  await served(folder, process.execPath, "main.js");
}

/** The line of the guide. */
const BANNER = 'const require = process.getBuiltinModule("node:module").createRequire(import.meta.url);';

export async function esbuildBundle(folder, format) {
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

export async function rspack(folder, style) {
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

/** Without the command `tsx`, which kills a program that has not taken a signal after 60 ms: a busy machine is slower. */
export async function tsx(folder) {
  await served(folder, process.execPath, "--import", import.meta.resolve("tsx"), "main.ts");
}

/** Vite ends the process at SIGTERM before the drain, unless it is a middleware. */
export async function viteNode(folder) {
  writeFileSync(join(folder, "vite.config.mjs"), "export default { server: { middlewareMode: true } };\n");
  await served(folder, process.execPath, binOf("vite-node"), "main.ts");
}

/** vitest 5 does not run on Node 20. */
export async function vitest(folder, name) {
  const args = [binOf(name, "vitest"), "run", "--globals", "--root", folder, "--testTimeout", "60000"];
  const enough = Number(process.versions.node.split(".")[0]) >= 22 || name === "vitest-4";
  if (enough) await node(folder, ...args);
  else await nodeOf(22, folder, ...args);
}

/** The plugin of the guide, with the esbuild of this folder. */
export async function vitestAfterEsbuild(folder, name) {
  const config = `
import { createRequire } from "node:module";

const { transform } = createRequire("${import.meta.url}")("esbuild");

const decorators = {
  name: "decorators",
  enforce: "pre",
  transform: (code, file) =>
    file.endsWith(".ts")
      ? transform(code, { loader: "ts", target: "es2022", sourcemap: true, sourcefile: file })
      : undefined,
};

export default { plugins: [decorators] };
`;
  writeFileSync(join(folder, "vitest.config.mjs"), config);
  await vitest(folder, name);
}

export async function jest(folder, style) {
  await node(folder, ...jestArguments(jestConfig(folder, style, "es6")));
}

/** Jest has `require` of ES modules on Node 24. */
export async function jestInCommonJs(folder, style) {
  await nodeOf(24, folder, ...jestArguments(jestConfig(folder, style, "commonjs")));
}

/** Read when a cell runs: the tools are installed after this file is loaded. */
function jestArguments(config) {
  return ["--experimental-vm-modules", binOf("jest"), "--config", JSON.stringify(config)];
}

function jestConfig(rootDir, style, type) {
  const swcJest = fileURLToPath(import.meta.resolve("@swc/jest"));
  return {
    rootDir,
    haste: { forceNodeFilesystemAPI: true },
    extensionsToTreatAsEsm: type === "es6" ? [".ts"] : [],
    testMatch: ["<rootDir>/*.test.ts"],
    transform: { "\\.ts$": [swcJest, { jsc: SWC(style), swcrc: false, module: { type } }] },
  };
}

export async function deno(folder) {
  const { compilerOptions } = JSON.parse(readFileSync(join(folder, "tsconfig.json"), "utf8"));
  const { experimentalDecorators, emitDecoratorMetadata } = compilerOptions;
  writeFileSync(
    join(folder, "deno.json"),
    JSON.stringify({ nodeModulesDir: "manual", compilerOptions: { experimentalDecorators, emitDecoratorMetadata } }),
  );
  const bin = platformBin("deno", "deno");
  await served(folder, bin, "run", "--allow-all", "main.ts");
}
