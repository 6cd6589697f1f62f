/** A folder with the packed package, as users install it, and a folder below it for each cell. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execute } from "./tools.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const NOTES = readFileSync(join(ROOT, "samples/notes/app.ts"), "utf8");

const TEST = `
import { testApp } from "@stagecraft/framework/testing";
import builder from "./app.ts";
import { faultsOf } from "./asks.mjs";
import { faultsOfInject } from "./inject-messages.ts";

test("names the cause and the place of a fault of inject", () => {
  expect(faultsOfInject()).toEqual([]);
});

test("serves", async () => {
  const app = await testApp(builder);
  try {
    expect(await faultsOf(app.url)).toEqual([]);
  } finally {
    await app.stop();
  }
});
`;

/** samples/notes in each style, with the settings of `tsconfig.json` for it. */
export const STYLES = {
  inject: { head: "With `inject`", app: NOTES, settings: { experimentalDecorators: true } },
  types: {
    head: "With types",
    app: NOTES.replaceAll(/(\w+) = inject\(([\w.]+)\)/g, "$1: $2").replaceAll(
      /(?<!\)\n)^class \w+ implements web\.Middleware/gm,
      "@web.Injectable()\n$&",
    ),
    settings: { experimentalDecorators: true, emitDecoratorMetadata: true },
  },
  standard: { head: "Standard decorators", app: NOTES, settings: {} },
};

/** The application and the lines that run it as one file, because some of the tools take one. */
export function toProgram(app) {
  const running = app
    .replace(/^export default (?=(web\.)?Application\.)/m, 'installLogging("info");\nawait ')
    .replace(/;( \/\/.*)?\n$/, "$1\n  .build()\n  .run();\n");
  if (!/^await .*Application/m.test(running)) throw new Error("the sample exports no application");
  return `import { installLogging } from "@stagecraft/framework/observe";\n${running}`;
}

/** Packs the package. */
export async function packed(work) {
  const { stdout } = await execute("npm", ["pack", "--silent", "--pack-destination", work], { cwd: ROOT });
  return join(work, stdout.trim().split("\n").at(-1));
}

export function createWork() {
  return mkdtempSync(join(tmpdir(), "reach-"));
}

export function writeJson(path, value) {
  writeFileSync(path, JSON.stringify(value, undefined, 2));
}

/** Zod for samples/notes, Kysely for the driver of SQLite, and busboy for uploads; no optional package beside them. */
export function writeManifest(folder, tarball, more = {}) {
  const dependencies = {
    "@stagecraft/framework": `file:${tarball}`,
    busboy: "^1.6.0",
    kysely: "^0.28.18",
    zod: "^4.6.7",
  };
  const devDependencies = { "@types/node": "^20.19.43" };
  writeJson(join(folder, "package.json"), {
    name: "notes",
    private: true,
    type: "module",
    dependencies,
    devDependencies,
    ...more,
  });
}

/** @param type the `type` of its `package.json`. CommonJS has no `await` at the top level. */
export function createProject(parent, name, style, { type = "module", module = "NodeNext" } = {}) {
  const folder = join(parent, name.replaceAll(/\W+/g, "-"));
  mkdirSync(folder);
  const { app, settings } = STYLES[style];
  const compilerOptions = {
    target: "ES2022",
    module,
    rootDir: ".",
    outDir: "out",
    types: ["node"],
    strict: true,
    ...settings,
  };
  writeJson(join(folder, "package.json"), { type });
  writeJson(join(folder, "tsconfig.json"), { compilerOptions, include: ["*.ts"], exclude: ["*.test.ts"] });
  const program = toProgram(app);
  writeFileSync(join(folder, "main.ts"), type === "commonjs" ? program.replace(/^await /m, "void ") : program);
  writeFileSync(join(folder, "app.ts"), app);
  writeFileSync(join(folder, "app.test.ts"), TEST);
  cpSync(join(HERE, "asks.mjs"), join(folder, "asks.mjs"));
  cpSync(join(HERE, "entries/inject-messages.ts"), join(folder, "inject-messages.ts"));
  cpSync(join(ROOT, "samples/notes/public"), join(folder, "samples/notes/public"), { recursive: true });
  return folder;
}
