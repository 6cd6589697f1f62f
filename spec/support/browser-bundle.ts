/** A program in a bundle for a browser, as a front end builds it: its size, and the files that are in it. */
import { build } from "esbuild";
import { gzipSync } from "node:zlib";
import { ROOT } from "./sources.js";

export interface BrowserBundle {
  readonly text: string;
  /** Compressed. */
  readonly bytes: number;
  readonly files: readonly string[];
}

/** @throws BuildFailure of esbuild, with the messages of the bundle */
export async function bundleForBrowser(contents: string): Promise<BrowserBundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const text = outputFiles[0]?.text ?? "";
  return { text, bytes: gzipSync(text, { level: 9 }).length, files: Object.keys(metafile.inputs) };
}
