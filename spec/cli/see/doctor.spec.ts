import { expect } from "chai";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Finding } from "../../../lib/cli/see/doctor/finding.js";
import { ApplicationFolder, SMALL_APPLICATION, type Files } from "../../support/application-folder.js";
import { listening } from "../../support/listening.js";

const ANY_PORT = SMALL_APPLICATION.replace(".requestId()", ".port(0)");

async function examine(files: Files, ...args: readonly string[]) {
  using folder = new ApplicationFolder({ "app.js": ANY_PORT, ...files });
  const { code, stdout } = await folder.call("doctor", "--json", ...args);
  return { code, findings: JSON.parse(stdout) as readonly Finding[] };
}

function of(findings: readonly Finding[], check: string): readonly Finding[] {
  return findings.filter((finding) => finding.check === check);
}

describe("stagecraft doctor", () => {
  it("ends with the verdict, and passes with warnings unless they are strict", async () => {
    using folder = new ApplicationFolder({ "app.js": ANY_PORT });

    const lenient = await folder.call("doctor");
    const strict = await folder.call("doctor", "--strict");

    expect(lenient.code).to.equal(0);
    expect(lenient.stdout.trimEnd().split("\n").at(-1)).to.match(/^\d warnings?$/);
    expect(strict).to.include({ code: 1, stdout: lenient.stdout });
  });

  it("has a fix for each finding that is not ok", async () => {
    const { findings } = await examine({ "app.js": "throw new Error('no such city');" });

    expect(findings.filter(({ level, fix }) => level !== "ok" && !fix)).to.deep.equal([]);
  });

  it("fails for an application that does not load, and goes on with the other checks", async () => {
    const { code, findings } = await examine({ "app.js": "throw new Error('no such city');" });

    expect(code).to.equal(1);
    const [finding] = of(findings, "application");
    expect(finding).to.include({ level: "fail", what: "app.js throws while it loads: no such city" });
    expect(of(findings, "node")).to.have.length(1);
  });

  it("warns of supervisors that wait for less time than a stop may take", async () => {
    const { findings } = await examine({});
    const short = ".lifecycle({ drainDelayMs: 100, drainDeadlineMs: 2000, stopTimeoutMs: 1000 }).port(0)";
    const quick = await examine({ "app.js": SMALL_APPLICATION.replace(".requestId()", short) });

    expect(of(findings, "stop").map(({ fix }) => fix)).to.deep.equal([
      "stop_grace_period: 40s, or docker stop --time 40; or shorter times in .lifecycle(…)",
      "terminationGracePeriodSeconds: 40; or shorter times in .lifecycle(…)",
    ]);
    expect(of(quick.findings, "stop").map(({ level }) => level)).to.deep.equal(["ok"]);
  });

  it("warns of a port that is taken", async () => {
    using taken = await listening(createServer());
    const app = SMALL_APPLICATION.replace(".requestId()", `.port(${taken.port})`);

    const { findings } = await examine({ "app.js": app });

    expect(of(findings, "port")[0]).to.include({ level: "warn" });
  });

  it("warns of a compiler that drops what the framework needs", async () => {
    const { findings } = await examine({
      "package.json": JSON.stringify({ type: "module", stagecraft: { app: "src/app.ts" } }),
      "src/app.ts": "",
      "dist/app.js": ANY_PORT,
      "tsconfig.json": '{ "compilerOptions": { "experimentalDecorators": true } }',
    });

    expect(of(findings, "compiler").map(({ fix }) => fix)).to.deep.equal([
      'set "emitDecoratorMetadata": true, or take every dependency by inject(…)',
      'set "isolatedModules": true',
    ]);
  });

  it("asks for no settings of a compiler in a release, which has the compiled files alone", async () => {
    const { findings } = await examine({
      "package.json": JSON.stringify({ type: "module", stagecraft: { app: "src/app.ts" } }),
      "dist/app.js": ANY_PORT,
    });

    expect(of(findings, "compiler").map(({ level }) => level)).to.deep.equal(["ok"]);
  });

  it("names the pending migrations of a database, and applies none", async () => {
    const app = `
      import { Application, provide } from "@stagecraft/framework";
      import { Database } from "@stagecraft/framework/db";
      import { sqlite } from "@stagecraft/framework/db/sqlite";
      class Shop extends Database {}
      const migrations = [{ name: "001-links", up: async () => {} }];
      export default () =>
        Application.create().port(0).provide(provide(Shop).useValue(new Shop(sqlite("shop.db"), { migrations: [migrations] })));
    `;
    using folder = new ApplicationFolder({ "app.js": app });
    folder.install("kysely", "@photostructure/sqlite");

    const first = await folder.run("doctor");
    const second = await folder.run("doctor");

    expect(first.stdout).to.match(/^warn {2}database +Shop: pending: 001-links\n +fix: /m);
    expect(second.stdout).to.equal(first.stdout);
    expect(existsSync(join(folder.path, "shop.db"))).to.equal(false);
  });

  it("fails for a database that cannot be reached", async () => {
    const app = `
      import { Application, provide } from "@stagecraft/framework";
      import { Database } from "@stagecraft/framework/db";
      import { sqlite } from "@stagecraft/framework/db/sqlite";
      class Shop extends Database {}
      export default () => Application.create().port(0).provide(provide(Shop).useValue(new Shop(sqlite("/dev/null/shop.db"))));
    `;
    const { code, findings } = await examine({ "app.js": app });

    expect(code).to.equal(1);
    expect(of(findings, "database")[0]).to.include({ level: "fail" });
  });
});
