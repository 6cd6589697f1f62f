import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { check } from "prettier";
import { CommandError, UsageError } from "../../../lib/cli/command.js";
import { projectFiles } from "../../../lib/cli/create/project-files.js";
import { make } from "../../../lib/cli/make/make.js";
import { KINDS, type Kind } from "../../../lib/cli/make/rows.js";
import { commandContext } from "../../support/command-context.js";
import { newFolder } from "../../support/new-folder.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { ROOT } from "../../support/sources.js";

const kinds = Object.keys(KINDS) as readonly Kind[];

/** A new project with the packages of the repository. */
function writeProject(folder: string): void {
  const options = { name: "my-shop", database: "sqlite", pages: "react", auth: false, docker: false } as const;
  for (const [path, text] of projectFiles(options, new Date())) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((each) => !each.startsWith(".")))
    link(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  link(ROOT, join(folder, "node_modules/@stagecraft/framework"));
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, "junction");
}

async function run(folder: string, program: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, program), ...args], { cwd: folder });
    return stdout;
  } catch (error) {
    return `${(error as { readonly stdout: string }).stdout}failed`;
  }
}

describe("make", () => {
  it("writes files that compile, that are formatted, and that the linter accepts, of every kind", async () => {
    using folder = newFolder();
    writeProject(folder.path);
    const context = commandContext(folder.path);

    for (const kind of kinds) await make(kind)({ name: "sale-reports" }, context);
    for (const kind of kinds) await make(kind)({ name: "admin/users" }, context);

    const paths = [...context.written().matchAll(/^wrote (.*)$/gm)].map(([, path = ""]) => path);
    expect(paths).to.have.length(2 * kinds.length);
    for (const path of paths)
      expect(
        await check(readFileSync(join(folder.path, path), "utf8"), { filepath: path, printWidth: 120 }),
        path,
      ).to.equal(true);
    expect(await run(folder.path, "node_modules/typescript/bin/tsc")).to.equal("");
    expect(await run(folder.path, "node_modules/typescript/bin/tsc", "-p", "pages")).to.equal("");
    expect(await run(folder.path, "node_modules/oxlint/bin/oxlint", "--deny-warnings", "src", "pages")).to.not.include(
      "failed",
    );
  });

  it("writes a migration that is refused until it is complete, because dev applies it when it is saved", async () => {
    using folder = newFolder();
    const context = commandContext(folder.path);

    await make("migration")({ name: "orders" }, context);

    const [path = ""] = /src\S+/.exec(context.written()) ?? [];
    const text = readFileSync(join(folder.path, path), "utf8");
    expect(text).to.match(
      /isComplete = false;[^]*up\([^]*if \(!isComplete\) throw new Error\("\d{8}-\d{6}-orders: [^]*createTable/,
    );
    expect(context.written()).to.include("set isComplete to true").and.include("npx stagecraft migrate:undo");
  });

  it("writes a test that leaves the database of development alone, where the project has SQLite", async () => {
    using folder = newFolder();
    using plain = newFolder();
    writeProject(folder.path);

    await make("test")({ name: "orders" }, commandContext(folder.path));
    await make("test")({ name: "orders" }, commandContext(plain.path));

    const path = "src/orders/orders.spec.ts";
    expect(readFileSync(join(folder.path, path), "utf8")).to.include('createApp(openDatabase(":memory:"))');
    expect(readFileSync(join(plain.path, path), "utf8")).to.include("testApp(createApp())");
  });

  it("nests on /, and names a folder after a name without one", async () => {
    using folder = newFolder();
    const context = commandContext(folder.path);

    await make("module")({ name: "links" }, context);
    await make("module")({ name: "shop/cart/lines" }, context);
    await make("module")({ name: "SaleReports" }, context);

    expect(context.written().match(/src\S+/g)).to.deep.equal([
      "src/links/links.module.ts",
      "src/shop/cart/lines.module.ts",
      "src/sale-reports/sale-reports.module.ts",
    ]);
  });

  it("prints the line to add, and changes no other file", async () => {
    using folder = newFolder();
    const context = commandContext(folder.path);

    await make("controller")({ name: "links" }, context);

    expect(context.written()).to.include("controllers: [LinksController]");
    expect(readdirSync(folder.path, { recursive: true })).to.have.length(3);
  });

  it("leaves a file that exists as it is", async () => {
    using folder = newFolder();
    const context = commandContext(folder.path);
    await make("module")({ name: "links" }, context);
    writeFileSync(join(folder.path, "src/links/links.module.ts"), "mine");

    const error = await rejectionOf(make("module")({ name: "links" }, context));

    expect(error).to.be.instanceOf(CommandError).and.not.instanceOf(UsageError);
    expect((error as CommandError).where).to.equal("src/links/links.module.ts");
    expect(readFileSync(join(folder.path, "src/links/links.module.ts"), "utf8")).to.equal("mine");
  });

  for (const name of [
    "",
    "..",
    "../links",
    "a/../b",
    "/links",
    "links/",
    "a//b",
    "a b",
    "links.ts",
    "class",
    "l\0",
    "c:\\x",
    "a".repeat(101),
  ])
    it(`refuses the name ${JSON.stringify(name)}`, async () => {
      using folder = newFolder();

      const error = await rejectionOf(make("controller")({ name }, commandContext(folder.path)));

      expect(error).to.be.instanceOf(UsageError);
      expect(readdirSync(folder.path)).to.deep.equal([]);
    });
});
