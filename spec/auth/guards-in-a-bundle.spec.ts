/** The guards of an identity in a bundle for a browser: nothing of Node and of the server, and their size. */
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { build } from "esbuild";
import { ROOT } from "../support/sources.js";

/** With the checks of their arguments. */
const MAX_BYTES = 3072;

async function bundleForBrowser(contents: string) {
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
  return { bytes: gzipSync(text, { level: 9 }).length, files: Object.keys(metafile.inputs) };
}

function writeTable(guards: string): string {
  return `
    import { Get, routes } from "@stagecraft/framework/routes";
    ${guards === "" ? "" : `import { ${guards} } from "@stagecraft/framework/auth/guards";`}
    export const account = routes("account", "/account", { show: Get("/", { guards: [${guards}] }) });`;
}

describe("the guards of an identity in a bundle for a browser", function () {
  this.timeout(60_000);

  it(`have less than ${MAX_BYTES} compressed bytes, and nothing of Node and of the server`, async () => {
    const { bytes, files } = await bundleForBrowser(`export * from "@stagecraft/framework/auth/guards";`);
    console.log(`      ${bytes} bytes`);

    expect(bytes).to.be.below(MAX_BYTES);
    expect(files).to.have.property("length").above(1);
    for (const file of files)
      expect(file).to.match(
        /<stdin>|lib\/(?:entries\/auth-guards|auth\/guards|auth\/jwt\/(?:bearer|issuer)|endpoints|errors|runtime)/,
      );
  });

  it("add little to a table of endpoints", async () => {
    const [without, withGuards] = [
      await bundleForBrowser(writeTable("")),
      await bundleForBrowser(writeTable("signedIn, recentlyConfirmed")),
    ];

    expect(withGuards.bytes - without.bytes).to.be.below(MAX_BYTES);
  });
});
