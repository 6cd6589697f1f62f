import { expect } from "chai";
import { importsOf, packageOf } from "../support/sources.js";

describe("the imports of a file", () => {
  const path = "lib/endpoints/path.ts";
  const rows: readonly [string, string, ReturnType<typeof importsOf>][] = [
    ["names of a package", 'import Koa, { type Next } from "koa";', [{ from: "koa", file: undefined, erased: false }]],
    ["a namespace", 'import * as http from "node:http";', [{ from: "node:http", file: undefined, erased: false }]],
    ["a path", 'import { a } from "../http/a.js";', [{ from: "../http/a.js", file: "lib/http/a.ts", erased: false }]],
    ["types only", 'import type { A } from "./a.js";', [{ from: "./a.js", file: "lib/endpoints/a.ts", erased: true }]],
    [
      "several lines",
      'export {\n  a,\n  b,\n} from "./a.js";',
      [{ from: "./a.js", file: "lib/endpoints/a.ts", erased: false }],
    ],
    ["everything", 'export * from "./a.js";', [{ from: "./a.js", file: "lib/endpoints/a.ts", erased: false }]],
    [
      "an import for its effects",
      'import "reflect-metadata";',
      [{ from: "reflect-metadata", file: undefined, erased: false }],
    ],
    ["a dynamic import", 'const koa = await import("koa");', [{ from: "koa", file: undefined, erased: false }]],
    ["the type of a module", 'let a: typeof import("koa");', [{ from: "koa", file: undefined, erased: true }]],
    ["an import of CommonJS", 'import Koa = require("koa");', [{ from: "koa", file: undefined, erased: false }]],
    [
      "a file in CommonJS",
      'import packages from "./a.cjs";',
      [{ from: "./a.cjs", file: "lib/endpoints/a.cts", erased: false }],
    ],
    ["exported texts", 'export const A = "a";\nexport type B = "b" | "c";', []],
    ["comments", '/**\n * import { a } from "./a.js";\n */\n// import "b";', []],
  ];
  for (const [what, text, imports] of rows) {
    it(`are found in ${what}`, () => {
      expect(importsOf(path, text)).to.deep.equal(imports);
    });
  }

  it("belong to packages, scoped or not", () => {
    expect(["koa/lib/context.js", "@koa/router", "@koa/router/x"].map(packageOf)).to.deep.equal([
      "koa",
      "@koa/router",
      "@koa/router",
    ]);
  });
});
