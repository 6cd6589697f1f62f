/** One file of a program and all packages that it loads, by esbuild, as the guide says. */
import { build, type BuildOptions } from "esbuild";
import { textOf } from "./sources.js";

export type BundleOptions = BuildOptions & { readonly format: "esm" | "cjs" };

export async function bundle(entry: string, outfile: string, options: BundleOptions): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: "node",
    // Without a target esbuild leaves standard decorators in its output.
    target: "es2022",
    keepNames: true,
    logLevel: "silent",
    ...(options.format === "esm" && { banner: { js: bannerOfGuide() } }),
    ...options,
  });
}

/** The first line of a bundle of ES modules, without which packages in CommonJS do not load. */
function bannerOfGuide(): string {
  const [, banner] = /--banner:js='(.*)'/.exec(textOf("docs/guide/compilers.md") ?? "") ?? [];
  if (banner === undefined) throw new Error("docs/guide/compilers.md has no banner");
  return banner;
}
