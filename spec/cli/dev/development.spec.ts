/** The development server: which process serves after a change, after a fault, and after an end. */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import * as fc from "fast-check";
import { until } from "../../support/until.js";
import { DevelopedApplication, listProcesses, server, SETTINGS } from "./developed-application.js";

const DOCUMENT = { Accept: "text/html,*/*" };

/** A program that responds with a value of its start. */
function reading(value: string, imports = ""): string {
  return imports + server("").replace('const version: string = ""', `const version: string = ${value}`);
}

/** A program with a version, by what becomes of it. */
const CHANGES = {
  good: (version: string) => server(version),
  fault: (version: string) => `${server(version)}\nconst = 1;`,
  crash: (version: string) => server(version, "process.exit(1);"),
  hang: (version: string) => server(version, "await new Promise(() => setInterval(() => {}, 1e6));"),
};
type ChangeKind = keyof typeof CHANGES;

async function turnLoop(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}

describe("the development server", function () {
  this.timeout(120_000);
  this.slow(5000);
  let developed: DevelopedApplication;

  beforeEach(async () => {
    developed = await DevelopedApplication.start(server("1"));
  });
  afterEach(() => developed[Symbol.asyncDispose]());

  it("serves the newest code after each change, and loses no request", async () => {
    await developed.serves("1");
    const isChanging = { now: true };
    const seen = new Set<string>();
    const asking = Array.from({ length: 4 }, async () => {
      while (isChanging.now) seen.add(await developed.ask());
    });

    for (const version of ["2", "3", "4"]) {
      developed.write(server(version));
      await developed.serves(version);
    }
    isChanging.now = false;
    await Promise.all(asking);

    expect([...seen].toSorted()).to.deep.equal(["1", "2", "3", "4"]);
  });

  it("ends with one process of the newest code after several changes in a row", async () => {
    for (let version = 2; version < 8; version++) {
      developed.write(server(String(version)));
      await new Promise(setImmediate);
    }

    await developed.serves("7");
    await until(() => listProcesses(developed.folder).length === 1);
    expect(listProcesses(developed.folder)).to.deep.equal([Number(await developed.ask("/pid"))]);
  });

  it("ends with one process of the newest code after any changes, faults, and starts that fail or hang", async () => {
    let version = 1;
    const change = ({ kind, turns }: { readonly kind: ChangeKind; readonly turns: number }) => {
      version += 1;
      developed.write(CHANGES[kind](String(version)));
      return turnLoop(turns);
    };
    const changes = fc.array(
      fc.record({ kind: fc.constantFrom<ChangeKind>("good", "fault", "crash", "hang"), turns: fc.nat(3000) }),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        for (const each of list) await change(each);
        await change({ kind: "good", turns: 0 });

        await developed.serves(String(version));
        await until(
          () => listProcesses(developed.folder).length === 1,
          () => developed.output,
        );
        expect(listProcesses(developed.folder)).to.deep.equal([Number(await developed.ask("/pid"))]);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it("lets the old process finish its requests", async () => {
    await developed.serves("1");
    const slow = developed.ask("/slow");
    await developed.serves("1");
    developed.write(server("2"));

    expect(await slow).to.equal("finished by 1");
    await developed.serves("2");
  });

  it("gives requests to the old process until the next one is ready", async () => {
    await developed.serves("1");
    const wait =
      'const { existsSync } = await import("node:fs"); while (!existsSync("go")) await new Promise(setImmediate);';
    developed.write(server("2", `writeFileSync("waits", ""); ${wait}`));
    await until(() => existsSync(join(developed.folder, "waits")));

    expect(await developed.ask()).to.equal("1");
    writeFileSync(join(developed.folder, "go"), "");
    await developed.serves("2");
  });

  it("keeps the process where the sources do not compile, and shows the fault to a browser alone", async () => {
    await developed.serves("1");
    developed.write(`${server("2")}\nconst name = <b> ;\n`);
    await developed.says("src/main.ts:");

    const page = await fetch(developed.url, { headers: DOCUMENT });

    expect(await developed.ask()).to.equal("1");
    expect([page.status, page.headers.get("content-type")]).to.deep.equal([500, "text/html; charset=utf-8"]);
    expect(await page.text()).to.contain("const name = &lt;b&gt; ;");
    developed.write(server("3"));
    await developed.serves("3");
    expect((await fetch(developed.url, { headers: DOCUMENT })).status).to.equal(200);
  });

  it("keeps the process where the next one does not start, and says how it ended", async () => {
    await developed.serves("1");
    developed.write(server("2", 'throw new Error("no database");'));
    await developed.says("The application did not start: its process ended with code 1.");

    expect(await developed.ask()).to.equal("1");
    expect(await developed.ask("/", DOCUMENT))
      .to.contain("no database")
      .and.to.contain("src/main.ts:");
  });

  it("says that the process was killed, until a change starts it again", async () => {
    await developed.serves("1");

    const crashed = await fetch(`${developed.url}/crash`);

    expect(crashed.status).to.equal(500);
    expect(await crashed.text()).to.contain("The application ended: its process ended with signal SIGKILL");
    developed.write(server("2"));
    await developed.serves("2");
  });

  it("takes a mended source that is as it was before the fault", async () => {
    await developed.serves("1");
    developed.write("const = 1;", "extra.ts");
    await developed.says("src/extra.ts:1:7");
    developed.write(server("1"));
    developed.write("export {};", "extra.ts");

    await until(async () => (await fetch(developed.url, { headers: DOCUMENT })).status === 200);
  });

  it("starts again after a change of .env, package.json, a catalog, a template, and JSON that is imported", async () => {
    developed.replace("package.json", '{ "type": "module" }');
    developed.replace("src/rates.json", '{ "eur": 1 }');
    developed.write(
      reading(
        '[read("locales/en/texts.ftl"), read("views/home.html"), read("package.json").length, rates.eur, process.env["GREETING"]].join()',
        `import { existsSync, readFileSync } from "node:fs";
import rates from "./rates.json" with { type: "json" };
const read = (file: string) => existsSync(file) ? readFileSync(file, "utf8") : "";
`,
      ),
    );
    await developed.serves(",,20,1,");

    for (const [file, text, response] of [
      ["locales/en/texts.ftl", "hello = Hello", "hello = Hello,,20,1,"],
      ["locales/en/texts.ftl", "hello = Hi", "hello = Hi,,20,1,"],
      ["views/home.html", "<p>", "hello = Hi,<p>,20,1,"],
      ["package.json", '{ "type":"module" }', "hello = Hi,<p>,19,1,"],
      ["src/rates.json", '{ "eur": 2 }', "hello = Hi,<p>,19,2,"],
      [".env", "GREETING=a", "hello = Hi,<p>,19,2,a"],
      [".env", "GREETING=b", "hello = Hi,<p>,19,2,b"],
    ] as const) {
      developed.replace(file, text);
      await developed.serves(response);
    }
    rmSync(join(developed.folder, ".env"));
    await developed.serves("hello = Hi,<p>,19,2,");
    renameSync(join(developed.folder, "locales"), join(developed.folder, "texts"));
    await developed.serves(",<p>,19,2,");
  });

  it("compiles all sources again with changed settings, and shows a fault of theirs", async () => {
    await developed.serves("1");
    developed.replace("tsconfig.json", "{ compilerOptions");
    await developed.says("tsconfig.json cannot be read");
    expect(await developed.ask("/", DOCUMENT)).to.contain("tsconfig.json cannot be read");
    developed.replace("more/version.ts", 'export const version: string = "2";');
    developed.write(reading("more", 'import { version as more } from "../more/version.js";\n'));
    developed.replace(
      "tsconfig.json",
      SETTINGS.replace('"rootDir":"src"', '"rootDir":"."').replace('["src"]', '["src", "more"]'),
    );

    await developed.serves("2");
    developed.replace("more/version.ts", 'export const version: string = "3";');
    await developed.serves("3");
  });

  it("takes no notice of files that programs write, and of a file with the same content", async () => {
    await developed.serves("1");
    developed.replace("views/home.html", "<p>");
    await developed.says("changed: ");
    await until(() => listProcesses(developed.folder).length === 1);
    for (const path of [
      "app.log",
      "data/a.html",
      "node_modules/a/a.html",
      "out/a.html",
      ".cache/a.ftl",
      "src/store.json",
    ])
      developed.replace(path, "a");
    developed.replace("views/home.html", "<p>");
    developed.write(server("2"));

    await developed.serves("2");

    expect(developed.output.match(/changed: .*/gu)).to.have.length(2);
    expect(developed.output).to.match(/changed: 1; the next process starts\n$/u);
  });

  it("checks the types beside", async () => {
    developed.write(server("2").replace("version: string", "version: number"));

    await developed.serves("2");
    await developed.says("error TS2322: Type 'string' is not assignable to type 'number'.");
  });

  it("takes every process with it", async () => {
    await developed.serves("1");
    developed.write(server("2", "await new Promise(() => undefined);"));
    await until(() => listProcesses(developed.folder).length === 2);

    await developed.stop();

    expect(listProcesses(developed.folder)).to.deep.equal([]);
  });
});
