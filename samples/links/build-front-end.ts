/**
 * Builds the front end with Vite: for browsers, and the bundle that renders pages on the server. It is built again only where a source,
 * the lock file, this file or a manifest has changed, so that a start costs nothing otherwise.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createManifest } from "@stagecraft/framework";
import type { InlineConfig } from "vite";
import { BUILD, ENTRY, SERVER_ENTRY, SOURCES } from "./front-end.js";
import { LOCALES } from "./languages.js";
import { ranking } from "./links.routes.js";

const INPUTS = "inputs.txt";

/** Builds the front end where its inputs have changed, and returns whether it did. The directory appears whole, also where several processes build at once. */
export async function buildFrontEnd(): Promise<boolean> {
  const inputs = await hashInputs();
  if ((await readText(join(BUILD, INPUTS))) === inputs) return false;
  await mkdir(dirname(BUILD), { recursive: true });
  const built = await mkdtemp(join(dirname(BUILD), "building-"));
  try {
    await build(built);
    await writeFile(join(built, INPUTS), inputs);
    // Another process may have finished the same build in the meantime, and may serve it already.
    if ((await readText(join(BUILD, INPUTS))) !== inputs) await replace(built);
  } finally {
    await rm(built, { recursive: true, force: true });
  }
  return true;
}

async function build(directory: string): Promise<void> {
  const { NODE_ENV } = process.env;
  const [vite, shared] = await Promise.all([import("vite"), viteConfig()]);
  try {
    await vite.build({
      ...shared,
      base: "/build/",
      build: {
        outDir: join(directory, "client"),
        emptyOutDir: false,
        manifest: true,
        // A style or a font in a data: URL is against the policy of the application.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        rolldownOptions: { input: join(SOURCES, ENTRY) },
      },
    });
    await vite.build({
      ...shared,
      build: { outDir: join(directory, "server"), emptyOutDir: false, ssr: join(SOURCES, SERVER_ENTRY) },
      ssr: { noExternal: true },
      define: { ...shared.define, "process.env.NODE_ENV": JSON.stringify("production") },
    });
  } finally {
    // Vite sets it for the process, where it would make a release build of a development server.
    if (NODE_ENV === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = NODE_ENV;
  }
}

/**
 * The endpoints that the pages call, as data: with the table itself its schemas would be in the bundle. And the messages of an error page that
 * gets none with its props.
 */
const DEFINITIONS = {
  RANKING: JSON.stringify(createManifest(ranking)),
  FRAME_MESSAGES: JSON.stringify(readFileSync(join(LOCALES, "en/frame.ftl"), "utf8")),
};

/** The packages of the front end, so that Vite prepares them at once, and not when the browser asks for the first one. */
const PACKAGES = [
  "react",
  "react/jsx-runtime",
  "react/jsx-dev-runtime",
  "react-dom/client",
  "@inertiajs/react",
  "@fluent/bundle",
];

/** The settings that the build and the development server share. @param root the folder above `pages` */
export async function viteConfig(root = SOURCES): Promise<InlineConfig> {
  const { default: react } = await import("@vitejs/plugin-react");
  return {
    configFile: false,
    root,
    publicDir: false,
    cacheDir: root === SOURCES ? join(SOURCES, "../../dist/vite") : join(root, "vite"),
    plugins: [react()],
    define: DEFINITIONS,
    optimizeDeps: { entries: [], include: PACKAGES },
    logLevel: "warn",
  };
}

async function replace(built: string): Promise<void> {
  await rm(BUILD, { recursive: true, force: true });
  await rename(built, BUILD).catch((error: NodeJS.ErrnoException) => {
    // Another process was faster with the same build.
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
}

async function hashInputs(): Promise<string> {
  const pages = join(SOURCES, "pages");
  const names = (await readdir(pages, { recursive: true })).filter((name) => /\.\w+$/.test(name)).toSorted();
  const files = [
    ...names.map((name) => join(pages, name)),
    join(SOURCES, "../../package-lock.json"),
    fileURLToPath(import.meta.url),
  ];
  const hash = createHash("sha256").update(JSON.stringify(DEFINITIONS));
  for (const file of files) hash.update(`${file}\n${(await readText(file)) ?? ""}\n`);
  return hash.digest("hex");
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}
