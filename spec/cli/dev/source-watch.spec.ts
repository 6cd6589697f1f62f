/** The watch of the development server: which changes it reports, and how many folders it watches. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { SourceWatch } from "../../../lib/cli/dev/source-watch.js";
import { until } from "../../support/until.js";

describe("the watch of sources", function () {
  this.timeout(60_000);
  let folder: string;
  let seen: Set<string>;
  let refused: string[];
  let watch: SourceWatch;
  const path = (name: string): string => join(folder, name);
  const write = (name: string): void => writeFileSync(path(name), String(Math.random()));
  /** Waits for the report of a file, and returns all that were reported up to it. */
  async function report(name: string): Promise<readonly string[]> {
    await until(
      () => seen.has(path(name)),
      () => [...seen].join(),
    );
    const names = [...seen].map((each) => each.slice(folder.length + 1)).toSorted();
    seen.clear();
    return names;
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "watch-"));
    seen = new Set();
    refused = [];
    mkdirSync(path("src/deep"), { recursive: true });
    watch = new SourceWatch({
      isWatched: (each) => !each.endsWith("skipped"),
      counts: (file) => file.endsWith(".ts"),
      onChange: (paths) => paths.forEach((each) => seen.add(each)),
      onLimit: (each) => refused.push(each),
    });
  });
  afterEach(() => {
    watch.stop();
    rmSync(folder, { recursive: true });
  });

  it("reports files that count, of folders that are watched", async () => {
    mkdirSync(path("src/skipped"));
    watch.add([path("src")]);
    for (const name of ["src/a.log", "src/skipped/a.ts", "b.ts", "src/deep/a.ts"]) write(name);

    expect(await report("src/deep/a.ts")).to.deep.equal(["src/deep/a.ts"]);
  });

  it("reports a file that an editor replaces, each time", async () => {
    write("src/a.ts");
    watch.add([path("src")]);

    for (let time = 0; time < 3; time++) {
      write("src/next");
      renameSync(path("src/next"), path("src/a.ts"));
      expect(await report("src/a.ts")).to.deep.equal(["src/a.ts"]);
    }
  });

  it("reports the files of a new folder, and of one with the name of an older one", async () => {
    watch.add([path("src")]);
    for (const round of ["1", "2"]) {
      mkdirSync(path(`${round}/below`), { recursive: true });
      write(`${round}/below/a.ts`);
      renameSync(path(round), path("src/new"));
      expect(await report("src/new/below/a.ts")).to.include("src/new/below/a.ts");
      write("src/new/below/b.ts");
      expect(await report("src/new/below/b.ts")).to.include("src/new/below/b.ts");
      rmSync(path("src/new"), { recursive: true });
      // The watch of a folder ends with it, which may be before the report of its second file.
      await until(() => seen.has(path("src/new/below/a.ts")) || seen.has(path("src/new/below/b.ts")));
      seen.clear();
    }
  });

  it("reports a folder with files that was moved away, and no other", async () => {
    mkdirSync(path("src/empty"));
    write("src/deep/a.ts");
    watch.add([path("src")]);
    renameSync(path("src/empty"), path("empty"));
    renameSync(path("src/deep"), path("deep"));

    expect(await report("src/deep")).to.deep.equal(["src/deep"]);
  });

  it("follows no link", async () => {
    symlinkSync(folder, path("src/loop"));
    watch.add([path("src")]);
    symlinkSync(folder, path("src/deep/loop"));
    write("src/deep/a.ts");

    expect(await report("src/deep/a.ts")).to.deep.equal(["src/deep/a.ts"]);
  });

  it("watches 2000 folders at most, says so once, and goes on with these", async () => {
    for (let at = 0; at < 2010; at++) mkdirSync(path(`many/${at}`), { recursive: true });
    watch.add([path("src"), path("many")]);
    write("src/deep/a.ts");

    expect(await report("src/deep/a.ts")).to.deep.equal(["src/deep/a.ts"]);
    expect(refused).to.have.length(1);
  });
});
