/** The compiler of the command: which files it writes and removes, what it reports, and what the compiled files do. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { SourceCompiler } from "../../../lib/cli/application/compiler.js";
import { SourceProject } from "../../../lib/cli/application/source-project.js";
import { formatFault } from "../../../lib/cli/application/transform.js";
import { errorOf } from "../../support/error-of.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { withoutPrivileges } from "../../support/without-privileges.js";

const SETTINGS = `{
  // As "npx tsc --init" writes it: with comments, and a comma at the end.
  "compilerOptions": {
    "rootDir": "src", "outDir": "dist", "target": "es2022", "verbatimModuleSyntax": true,
    "experimentalDecorators": true, "emitDecoratorMetadata": true, /* a comment */
  },
  "include": ["src"],
}`;

describe("the compiler of the command", () => {
  let folder: string;
  const path = (name: string): string => join(folder, name);
  /** With a time of change in the past, so that the file counts as settled. */
  const write = (name: string, text: string, secondsAgo = 10): void => {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
    const seconds = Date.now() / 1000 - secondsAgo;
    utimesSync(path(name), seconds, seconds);
  };
  const compilerOf = () => {
    const compiler = new SourceCompiler();
    return { update: () => compiler.update(SourceProject.of(path("src/app.ts"))) };
  };
  const names = (files: readonly string[]): readonly string[] => files.map((file) => file.slice(folder.length + 1));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "compiler-"));
    write("tsconfig.json", SETTINGS);
    write("package.json", '{ "type": "module" }');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("compiles the changed sources alone", () => {
    write("src/app.ts", "export const app: number = 1;\n");
    write("src/users/user.ts", "export interface User {}\n");
    write("src/types.d.ts", "declare const global: string;\n");
    const compiler = compilerOf();

    expect(names(compiler.update().changed)).to.have.members(["src/app.ts", "src/users/user.ts"]);
    const before = statSync(path("dist/app.js")).mtimeMs;
    write("src/users/user.ts", "export class User {}\n", 5);

    expect(names(compiler.update().changed)).to.deep.equal(["src/users/user.ts"]);
    expect(compiler.update()).to.deep.equal({ changed: [], faults: [] });
    expect(statSync(path("dist/app.js")).mtimeMs).to.equal(before);
    expect(readFileSync(path("dist/users/user.js"), "utf8")).to.contain("class User");
  });

  it("sees a change that another command has compiled before", () => {
    write("src/app.ts", "export const app: number = 1;\n");
    const compiler = compilerOf();
    compiler.update();
    write("src/app.ts", "export const app: number = 2;\n", 5);
    compilerOf().update();

    expect(names(compiler.update().changed)).to.deep.equal(["src/app.ts"]);
    expect(compiler.update().changed).to.deep.equal([]);
  });

  it("compiles a file again that changed while it was compiled", () => {
    write("src/app.ts", "export const app = 1;\n", 0);
    const compiler = compilerOf();
    compiler.update();
    const { mtime } = statSync(path("src/app.ts"));
    writeFileSync(path("src/app.ts"), "export const app = 2;\n");
    utimesSync(path("src/app.ts"), mtime, mtime);

    compiler.update();

    expect(readFileSync(path("dist/app.js"), "utf8")).to.contain("app = 2");
  });

  it("removes the compiled file of a removed source", () => {
    write("src/app.ts", "export const app = 1;\n");
    write("src/old.ts", "export const old = 1;\n");
    write("dist/public/old.js", "not compiled");
    const compiler = compilerOf();
    compiler.update();
    rmSync(path("src/old.ts"));

    expect(names(compiler.update().changed)).to.deep.equal(["src/old.ts"]);
    expect(existsSync(path("dist/old.js")) || existsSync(path("dist/old.js.map"))).to.equal(false);
    expect(existsSync(path("dist/public/old.js"))).to.equal(true);
  });

  it("names the file, line and column of a fault, and changes no file", () => {
    write("src/app.ts", "export const app = 1;\n");
    const compiler = compilerOf();
    compiler.update();
    write("src/app.ts", "export const app = 2;\n", 5);
    write("src/bad.ts", '// ünï\nexport const text = "😀" + ;\n');

    const { changed, faults } = compiler.update();

    expect(changed).to.deep.equal([]);
    expect(faults.map(formatFault)).to.deep.equal([
      'src/bad.ts:2:28 Unexpected token\n  2 | export const text = "😀" + ;\n    |                            ^',
    ]);
    expect(readFileSync(path("dist/app.js"), "utf8")).to.contain("app = 1");
    write("src/bad.ts", "export {};\n");
    expect(compiler.update().changed).to.have.length(2);
  });

  it("points from the compiled file to the line of the source", async () => {
    write("src/app.ts", "declare function mark(target: object): void;\n\n@mark\nexport class App {}\n");
    compilerOf().update();

    const error = await rejectionOf(import(pathToFileURL(path("dist/app.js")).href));

    expect(error.stack).to.contain("src/app.ts:3:2");
  });

  it("keeps decorators, their metadata, parameter decorators and declarations with using", async () => {
    write(
      "src/app.ts",
      `export const seen: unknown[] = [];
Reflect.set(Reflect, "metadata", (key: string, value: unknown) => () => void seen.push(key, value));
const note = (target: object, key?: string, at?: unknown) => void seen.push(typeof target, key, typeof at);
const open = (name: string) => ({ [Symbol.dispose]: () => void seen.push("closed " + name) });
class Store {}
export class App {
  @note run(store: Store): void {}
  constructor(@note readonly store: Store) {}
  use() { using a = open("a"); using b = open("b"); seen.push("used"); }
}
new App(new Store()).use();
`,
    );
    compilerOf().update();

    const metadata: unknown = Reflect.get(Reflect, "metadata");
    const { seen } = (await import(pathToFileURL(path("dist/app.js")).href)) as { seen: readonly unknown[] };
    // Later specs of this process need the function of the package.
    Reflect.set(Reflect, "metadata", metadata);

    expect(seen.slice(-3)).to.deep.equal(["used", "closed b", "closed a"]);
    expect(seen).to.include.members(["design:paramtypes", "run", "number"]);
  });

  it("reads the settings that tsconfig.json extends, and its patterns", () => {
    write("settings/base.json", SETTINGS.replaceAll('"src"', '"../src"').replace('"dist"', '"../out"'));
    write("tsconfig.json", '{ "extends": "./settings/base.json", "exclude": ["src/**/*.spec.ts"] }');
    write("src/app.ts", "export const app = 1;\n");
    write("src/users/user.spec.ts", "export const spec = 1;\n");

    expect(names(compilerOf().update().changed)).to.deep.equal(["src/app.ts"]);
    expect(existsSync(path("out/app.js"))).to.equal(true);
  });

  it("compiles all sources again after a change of the settings, also of those that are extended", () => {
    write("settings/base.json", SETTINGS.replaceAll('"src"', '"../src"').replace('"dist"', '"../dist"'));
    write("tsconfig.json", '{ "extends": "./settings/base.json" }');
    write("src/app.ts", "export class App { name?: string }\n");
    write("src/users/user.ts", "export const user = 1;\n");
    const compiler = compilerOf();
    compiler.update();
    write("settings/base.json", readFileSync(path("settings/base.json"), "utf8").replace("es2022", "es2020"), 5);

    expect(compiler.update().changed).to.have.length(2);
    expect(readFileSync(path("dist/app.js"), "utf8")).to.not.contain("name");
    expect(compiler.update().changed).to.deep.equal([]);
    write("tsconfig.json", '{ "extends": "./settings/base.json", "compilerOptions": { "sourceMap": true } }', 4);
    expect(compilerOf().update().changed).to.have.length(2);
  });

  it("copies the JSON that a source imports, and no other, again after its change", () => {
    write("src/app.ts", 'import data from "./data/rates.json" with { type: "json" };\nexport { data };\n');
    write("src/data/rates.json", '{ "eur": 1 }');
    write("src/data/written.json", "{}");
    const compiler = compilerOf();
    compiler.update();
    expect(readFileSync(path("dist/data/rates.json"), "utf8")).to.equal('{ "eur": 1 }');
    write("src/data/rates.json", '{ "eur": 2 }', 5);
    write("src/data/written.json", "[]", 5);

    expect(names(compiler.update().changed)).to.deep.equal(["src/data/rates.json"]);
    expect(compiler.update().changed).to.deep.equal([]);
    expect(readFileSync(path("dist/data/rates.json"), "utf8")).to.equal('{ "eur": 2 }');
    expect(existsSync(path("dist/data/written.json"))).to.equal(false);
    write("src/data/rates.json", '{ "eur": 3 }', 4);
    expect(names(compilerOf().update().changed)).to.deep.equal(["src/data/rates.json"]);
  });

  it("copies no JSON from outside rootDir", () => {
    write("src/app.ts", 'import data from "../package.json" with { type: "json" };\nexport { data };\n');

    expect(names(compilerOf().update().changed)).to.deep.equal(["src/app.ts"]);
  });

  for (const [title, settings, message] of [
    ["decorators of the other kind", SETTINGS.replace('"experimentalDecorators": true,', ""), "experimentalDecorators"],
    ["imports that depend on types", SETTINGS.replace('"verbatimModuleSyntax": true,', ""), "verbatimModuleSyntax"],
    ["a base that does not exist", '{ "extends": "./none.json" }', "cannot be read"],
    ["a file that is no JSON", "{ compilerOptions }", "cannot be read"],
  ] as const) {
    it(`refuses ${title}`, () => {
      write("src/app.ts", "export const app = 1;\n");
      write("tsconfig.json", settings);

      expect(errorOf(() => compilerOf().update()).message).to.contain(message);
    });
  }

  it("names a folder that it cannot write", async () => {
    write("src/app.ts", "export const app = 1;\n");
    mkdirSync(path("dist"), { mode: 0o555 });
    chmodSync(folder, 0o755);

    const error = await withoutPrivileges(async () => errorOf(() => compilerOf().update()));

    expect(error.message).to.contain("dist/app.js cannot be written: EACCES");
  });
});
