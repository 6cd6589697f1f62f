/** The page "all cores": its program runs, and its options, codes and the path of a roll are those of the code. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { checkWorkersOptions } from "../../lib/app/workers/workers-options.js";
import { WorkersUnderTest } from "../app/workers/workers-under-test.js";
import { ApplicationFolder } from "../support/application-folder.js";
import { textOf } from "../support/sources.js";
import { compiledPage } from "./compiled-page.js";

const page = textOf("docs/guide/workers.md") ?? "";

/** The cells of the table with this first heading, without their marks. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, table = ""] = new RegExp(`^\\| ${heading} .*\\n\\| -.*\\n((?:\\|.*\\n)+)`, "m").exec(page) ?? [];
  return table
    .trimEnd()
    .split("\n")
    .map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.replaceAll("`", "").trim()),
    );
}

describe("the page about workers", function () {
  this.timeout(120_000);
  this.slow(20_000);

  it("has a program that serves with a worker for each processor, rolls at SIGHUP, and ends with 0", async () => {
    await using program = compiledPage("workers/main.ts");
    await using workers = await WorkersUnderTest.spawn(1, { NODE_ENV: "production" }, pathToFileURL(program.path).href);
    await workers.says('"listening"');
    const { count, source } = checkWorkersOptions({ workers: "auto" });
    await workers.areReady(count);
    const before = await workers.serving(count);
    workers.parent.kill("SIGHUP");
    await workers.says("workers replaced");
    const after = await workers.serving(count);
    workers.parent.kill("SIGTERM");

    expect(await workers.parent.exitCode()).to.equal(0);
    expect([...after].filter((pid) => before.has(pid))).to.deep.equal([]);
    const [shown = ""] = /^\{"fields".*(?=, …\}$)/m.exec(page) ?? [];
    const ofThisMachine = shown
      .replace(/"source":"[^"]*"/, `"source":"${source}"`)
      .replace(/"workers":\d+/, `"workers":${count}`);
    expect(shown).to.include('"starting workers"');
    expect(workers.log).to.include(ofThisMachine);
  });

  it("has all options, with their defaults", () => {
    const { count: _count, source: _source, work, ...numbers } = checkWorkersOptions({ workers: 2 });
    const shown = new Map(
      rowsBelow("Option").map(([name = "", unset = ""]) => [name, unset.replaceAll(/(?<=\d) (?=\d)/g, "")]),
    );

    expect([...shown.keys()]).to.have.members(["workers", "work", ...Object.keys(numbers)]);
    expect(shown.get("work")).to.equal(JSON.stringify(work));
    expect(shown.get("unresponsiveAfterMs")).to.equal(`${numbers.unresponsiveAfterMs} ms`);
    expect(shown.get("startTimeoutMs")).to.equal(`${numbers.startTimeoutMs} ms`);
    expect(numbers.responsesPerConnection).to.equal(Infinity);
    const [perWorker, least] = [9, 1].map((workers) => checkWorkersOptions({ workers }).maxRestartsPerMinute);
    expect(shown.get("maxRestartsPerMinute")).to.equal(
      `${Number(perWorker) / 9} per worker, ${String(least)} at least`,
    );
  });

  it("has all error codes", () => {
    const listed = (textOf("docs/guide/errors.md") ?? "").match(/(?<=^\| `)E_WORKERS_\w+/gm);

    expect(rowsBelow("Code").flatMap(([codes = ""]) => codes.split(", "))).to.have.members(listed ?? []);
  });

  it("says which main file a roll starts: by the path of the parent, also where a link has changed", async () => {
    using folder = new ApplicationFolder({ "package.json": '{"type":"module"}' });
    const at = (...names: readonly string[]): string => join(folder.path, ...names);
    for (const release of ["one", "two"]) {
      mkdirSync(at(release));
      const program = `
        import { Application, Route, Routes } from "@stagecraft/framework";
        import { installLogging } from "@stagecraft/framework/observe";
        installLogging("info");
        const routes = new Routes([Route.get("/release", () => "${release}")]);
        await Application.create().routes(routes).build().runWorkers({ workers: 1 });`;
      writeFileSync(at(release, "main.js"), program);
    }
    symlinkSync("one", at("current"));
    await using workers = await WorkersUnderTest.spawn(1, {}, pathToFileURL(at("current", "main.js")).href);
    await workers.areReady(1);
    const first = await workers.ask("/release");
    symlinkSync("two", at("next"));
    renameSync(at("next"), at("current"));
    workers.parent.kill("SIGHUP");
    await workers.says("workers replaced");

    expect(first.text).to.equal("one");
    expect((await workers.ask("/release")).text).to.equal("two");
  });
});
