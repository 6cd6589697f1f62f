/** The guards of an identity in a bundle for a browser: nothing of Node and of the server, and their size. */
import { expect } from "chai";
import { bundleForBrowser } from "../support/browser-bundle.js";
import { compiledFrom } from "../support/sources.js";

/** With the checks of their arguments. */
const MAX_BYTES = 3072;

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
    for (const file of files.flatMap((each) => (each.startsWith("dist/lib/") ? compiledFrom(each) : [each])))
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
