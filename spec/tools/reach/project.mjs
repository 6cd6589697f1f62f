/** A folder with the packed package, as users install it, and a folder below it for each cell. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execute } from "./tools.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const APP = readFileSync(join(HERE, "program/app.ts"), "utf8");

const RUN = `
import { Application } from "@stagecraft/framework";
void Application.create(NotesModule).build().run();
`;

const TEST = `
import { testApp } from "@stagecraft/framework/testing";
import { NotesModule } from "./app.ts";
import { faultsOf } from "./asks.mjs";

test("serves", async () => {
  const app = await testApp(NotesModule);
  try {
    expect(await faultsOf(app.url)).toEqual([]);
  } finally {
    await app.stop();
  }
});
`;

/** The program in each style, with the settings of `tsconfig.json` for it. */
export const STYLES = {
  inject: { head: "With `inject`", app: APP, settings: { experimentalDecorators: true } },
  types: {
    head: "With types",
    app: APP.replaceAll(/(\w+) = inject\((\w+)\)/g, "$1: $2").replace("  inject,\n", ""),
    settings: { experimentalDecorators: true, emitDecoratorMetadata: true },
  },
  standard: { head: "Standard decorators", app: APP, settings: {} },
};

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

/** Kysely, because the driver for SQLite needs it; no other optional package. */
export function writeManifest(folder, tarball, more = {}) {
  const dependencies = { "@stagecraft/framework": `file:${tarball}`, kysely: "^0.28.18" };
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

/** @param type the `type` of its `package.json` */
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
  writeFileSync(join(folder, "app.ts"), app);
  writeFileSync(join(folder, "main.ts"), app + RUN);
  writeFileSync(join(folder, "app.test.ts"), TEST);
  cpSync(join(HERE, "asks.mjs"), join(folder, "asks.mjs"));
  return folder;
}
