import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { FrameworkError } from "../../../lib/errors/framework-error.js";
import { readManifestFiles, isHashedName } from "../../../lib/stages/static-files/locator.js";
import { errorOf } from "../../support/error-of.js";

describe("isHashedName", () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["/app-BX3kd9aZ.js", true],
    ["/assets/app-BX3kd9aZ.js", true],
    ["/app-BX3k_9a-.css", true],
    ["/app-legacy-BX3kd9aZ.js", true],
    ["/a-0123456789abcdef0123456789abcdef.png", true],
    ["/two.words-BX3kd9aZ.js", true],
    ["/app-BX3kd9a.js", false],
    ["/app.js", false],
    ["/app-BX3kd9aZ", false],
    ["/app-BX3kd9aZ.", false],
    ["/-BX3kd9aZ.js", false],
    ["/BX3kd9aZ.js", false],
    ["/app-BX3kd9aZ.js.map", false],
    ["/app-BX3kd9a~.js", false],
    ["/app-BX3 d9aZ.js", false],
    ["/dir-BX3kd9aZ/app.js", false],
    ["", false],
  ];

  for (const [path, isHashed] of rows) {
    it(`${isHashed ? "accepts" : "does not accept"} ${JSON.stringify(path)}`, () => {
      expect(isHashedName(path)).to.equal(isHashed);
    });
  }
});

describe("readManifestFiles", () => {
  let folder = "";

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "manifest-"));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("returns chunks, their style sheets and their assets", () => {
    const path = join(folder, "manifest.json");
    const chunk = {
      file: "assets/app-12345678.js",
      css: ["assets/app-12345678.css"],
      assets: ["assets/a-12345678.png"],
    };
    writeFileSync(
      path,
      JSON.stringify({ "src/app.ts": chunk, "src/b.ts": { file: "assets/b-12345678.js", isEntry: true } }),
    );

    const files = readManifestFiles(path);

    expect([...(files ?? [])]).to.have.members([chunk.file, ...chunk.css, ...chunk.assets, "assets/b-12345678.js"]);
  });

  it("returns undefined without a manifest", () => {
    expect(readManifestFiles(join(folder, "missing.json"))).to.equal(undefined);
  });

  for (const text of [
    "",
    "{",
    "null",
    "[1]",
    '{"a":{}}',
    '{"a":{"file":7}}',
    '{"a":{"file":"x","css":"y"}}',
    '{"a":null}',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const path = join(folder, "manifest.json");
      writeFileSync(path, text);

      const error = errorOf(() => readManifestFiles(path));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_STATIC_MANIFEST");
      expect(error.message).to.contain(path);
    });
  }

  it("refuses a directory instead of a manifest", () => {
    expect(errorOf(() => readManifestFiles(folder))).to.have.property("code", "E_STATIC_MANIFEST");
  });
});
