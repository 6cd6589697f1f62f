import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { check, getFileInfo } from "prettier";
import { CommandError, UsageError } from "../../../lib/cli/command.js";
import { newProject, type NewProjectValues } from "../../../lib/cli/create/new-project.js";
import { DATABASES, PAGES, type ProjectOptions } from "../../../lib/cli/create/options.js";
import { projectFiles } from "../../../lib/cli/create/project-files.js";
import { commandContext } from "../../support/command-context.js";
import { newFolder } from "../../support/new-folder.js";
import { rejectionOf } from "../../support/rejection-of.js";

const NOTHING: NewProjectValues = {
  name: undefined,
  database: undefined,
  pages: undefined,
  auth: undefined,
  docker: undefined,
  yes: undefined,
};
const MAX_FILES = 25;

const combinations = DATABASES.flatMap((database) =>
  PAGES.flatMap((pages) =>
    [true, false].flatMap((auth) =>
      [true, false].map((docker) => ({ name: "my-shop", database, pages, auth, docker })),
    ),
  ),
).filter(({ database, auth }) => !(auth && database === "none"));

function title({ database, pages, auth, docker }: ProjectOptions): string {
  return `--database ${database} --pages ${pages}${auth ? " --auth" : ""}${docker ? " --docker" : ""}`;
}

describe("the files of a new project", () => {
  for (const options of combinations)
    it(`are few, are formatted, and are whole: ${title(options)}`, async () => {
      const files = projectFiles(options, new Date());

      expect(files.length).to.be.lessThan(MAX_FILES);
      expect(new Set(files.map(([path]) => path)).size).to.equal(files.length);
      for (const [path, text] of files) {
        expect(text, path).to.not.match(/\[object|\[sign-out\]|\n\n\n|undefined["/]/);
        const { inferredParser } = await getFileInfo(path);
        if (inferredParser !== null)
          expect(await check(text, { filepath: path, printWidth: 120 }), path).to.equal(true);
      }
    });

  it("have the parts that a team looks for", () => {
    const paths = projectFiles(
      { name: "my-shop", database: "sqlite", pages: "none", auth: false, docker: false },
      new Date(0),
    ).map(([path]) => path);

    expect(paths).to.include.members([
      "src/app.ts",
      "src/main.ts",
      "src/notes/notes.module.ts",
      "src/notes/notes.routes.ts",
      "src/notes/notes.controller.ts",
      "src/migrations/1970-01-01-notes.ts",
      "src/app.spec.ts",
      "AGENTS.md",
      ".env.example",
    ]);
  });
});

describe("new", () => {
  it("writes the project into a new folder, and prints the next command", async () => {
    using folder = newFolder();
    const context = commandContext(folder.path);

    await newProject({ ...NOTHING, name: "my-shop" }, context);

    expect(readdirSync(join(folder.path, "my-shop"))).to.include.members(["package.json", "src", "AGENTS.md"]);
    expect(readdirSync(join(folder.path, "my-shop"))).to.not.include("node_modules");
    expect(context.written()).to.include("cd my-shop && npm install && npm run dev");
  });

  it("prints the choices that it has made", async () => {
    using folder = newFolder();
    const context = commandContext(folder.path);

    await newProject({ ...NOTHING, name: "my-shop", auth: true, yes: true }, context);

    expect(context.written()).to.include("--database sqlite --pages none --auth");
  });

  it("takes the versions that this release is tested with", async () => {
    using folder = newFolder();
    await newProject({ ...NOTHING, name: "my-shop", pages: "vue", database: "mysql" }, commandContext(folder.path));

    const manifest = JSON.parse(readFileSync(join(folder.path, "my-shop/package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>;
      readonly devDependencies: Readonly<Record<string, string>>;
    };

    for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))
      expect(range, name).to.match(/^[~^]?\d+\.\d+\.\d+$/);
  });

  it("writes into an empty folder", async () => {
    using folder = newFolder();
    mkdirSync(join(folder.path, "my-shop"));

    await newProject({ ...NOTHING, name: "my-shop" }, commandContext(folder.path));

    expect(readdirSync(join(folder.path, "my-shop"))).to.include("package.json");
  });

  it("leaves a folder with files as it is, also with --yes", async () => {
    using folder = newFolder();
    mkdirSync(join(folder.path, "my-shop"));
    writeFileSync(join(folder.path, "my-shop/mine.txt"), "mine");

    const error = await rejectionOf(
      newProject({ ...NOTHING, name: "my-shop", yes: true }, commandContext(folder.path)),
    );

    expect(error).to.be.instanceOf(CommandError).and.not.instanceOf(UsageError);
    expect(readdirSync(join(folder.path, "my-shop"))).to.deep.equal(["mine.txt"]);
  });

  it("says so where the name is that of a file", async () => {
    using folder = newFolder();
    writeFileSync(join(folder.path, "my-shop"), "mine");

    const error = await rejectionOf(newProject({ ...NOTHING, name: "my-shop" }, commandContext(folder.path)));

    expect(error).to.be.instanceOf(CommandError);
    expect(error.message).to.include("ENOTDIR");
  });

  for (const name of [
    "",
    "..",
    ".",
    "a b",
    "../up",
    "a/b",
    "/tmp/x",
    "-x",
    "Shop",
    "shop\0",
    "é",
    "x".repeat(51),
    "a--b",
    "1st",
  ])
    it(`refuses the name ${JSON.stringify(name)}`, async () => {
      using folder = newFolder();

      const error = await rejectionOf(newProject({ ...NOTHING, name }, commandContext(folder.path)));

      expect(error).to.be.instanceOf(UsageError);
      expect(readdirSync(folder.path)).to.deep.equal([]);
    });

  for (const values of [{ database: "oracle" }, { pages: "angular" }, { database: "none", auth: true as const }])
    it(`refuses ${JSON.stringify(values)}, and names the choices`, async () => {
      using folder = newFolder();

      const error = await rejectionOf(
        newProject({ ...NOTHING, name: "my-shop", ...values }, commandContext(folder.path)),
      );

      expect(error).to.be.instanceOf(UsageError);
      expect((error as UsageError).fix).to.match(/^choose /);
      expect(readdirSync(folder.path)).to.deep.equal([]);
    });

  it("does not ask for the name without a terminal", async () => {
    using folder = newFolder();

    const error = await rejectionOf(newProject(NOTHING, commandContext(folder.path)));

    expect(error).to.be.instanceOf(UsageError);
  });
});
