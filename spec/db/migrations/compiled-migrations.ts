/** One migration in TypeScript, compiled by tsc, by oxc, and by oxc with short names: the texts of its function differ. */
import { expect } from "chai";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { minify, transformWithOxc } from "vite";
import { temporaryFolder } from "../shop-database.js";

const SOURCE = `// @ts-nocheck
const LIMIT: number = 10_000;
export const checksum = "1";
export async function up(db: unknown): Promise<void> {
  const slug = LIMIT === undefined ? 'none' : \`\${LIMIT} new york\`;
  await db.schema.createTable("links").addColumn("slug", "varchar(40)").execute();
  await db.insertInto("links").values({ slug: slug ?? undefined }).execute();
}
`;

const TSC = fileURLToPath(new URL("../../../../node_modules/typescript/bin/tsc", import.meta.url));

export interface CompiledMigrations extends AsyncDisposable {
  readonly byTsc: string;
  readonly byOxc: string;
  readonly minified: string;
}

export async function compiledMigrations(): Promise<CompiledMigrations> {
  const folder = await temporaryFolder();
  const [byTsc, byOxc, minified] = ["tsc", "oxc", "minified"].map((name) => folder.file(name)) as [
    string,
    string,
    string,
  ];
  for (const each of [byTsc, byOxc, minified]) await mkdir(each);
  const source = folder.file("001-links.mts");
  await writeFile(source, SOURCE);
  await promisify(execFile)(process.execPath, [
    TSC,
    "--ignoreConfig",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--outDir",
    byTsc,
    source,
  ]);
  const { code } = await transformWithOxc(SOURCE, source, { target: "es2019" });
  await writeFile(`${byOxc}/001-links.mjs`, code);
  await writeFile(`${minified}/001-links.mjs`, (await minify("001-links.mjs", code, { module: true })).code);
  expect(new Set(await Promise.all([byTsc, byOxc, minified].map(textOfUp))).size).to.equal(3);
  return { byTsc, byOxc, minified, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

async function textOfUp(folder: string): Promise<string> {
  // The file exports it.
  const { up } = (await import(pathToFileURL(`${folder}/001-links.mjs`).href)) as { readonly up: () => unknown };
  return up.toString();
}
