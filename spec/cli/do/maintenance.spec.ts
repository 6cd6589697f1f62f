/** `down` and `up` on processes of one application: its `main.js` runs it, and the command writes the store of its maintenance. */
import { expect } from "chai";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ApplicationFolder } from "../../support/application-folder.js";
import { Child } from "../../support/child.js";
import { until } from "../../support/until.js";

const HANDLE = "new Maintenance().allow('/status').store(new FileMaintenanceStore('down.json'))";

function applicationWith(maintenance: string, more = ""): string {
  return `
    import { Application, Maintenance, Route, Routes, Subsystem, provide } from "@stagecraft/framework";
    import { FileMaintenanceStore } from "@stagecraft/framework/maintenance";
    const routes = new Routes([Route.get("/", () => "open"), Route.get("/status", () => "fine")]);
    export default () => Application.create().routes(routes)${maintenance}${more};
  `;
}

const MAIN = `
  import { installLogging } from "@stagecraft/framework/observe";
  import createApplication from "./app.js";
  installLogging("info");
  await createApplication().build().run();
`;

const WITH_FILE = { "app.js": applicationWith(`.maintenance(${HANDLE})`), "main.js": MAIN };

/** Switches take effect within a second, and the machine may be busy. */
const FOLLOWED_MS = 2000;

const startMain = (folder: ApplicationFolder): Promise<Child> =>
  Child.start(pathToFileURL(join(folder.path, "main.js")).href, {}, { cwd: folder.path });

const statusOf = async (child: Child, path = "/"): Promise<number> => (await fetch(child.url + path)).status;

/** The milliseconds until all processes respond with the status. */
async function follow(children: readonly Child[], status: number): Promise<number> {
  const startedAt = performance.now();
  await until(async () => (await Promise.all(children.map((each) => statusOf(each)))).every((each) => each === status));
  return performance.now() - startedAt;
}

describe("down and up", () => {
  it("reach two running processes within 2 s, and leave the health endpoints and the allowed paths open", async () => {
    using folder = new ApplicationFolder(WITH_FILE);
    await using one = await startMain(folder);
    await using two = await startMain(folder);
    await Promise.all([one.serves(), two.serves()]);

    const before = await Promise.all([statusOf(one), statusOf(two)]);
    const down = await folder.run("down", "--retry-after", "120");
    const downMs = await follow([one, two], 503);
    const refused = await fetch(one.url);
    const open = await Promise.all([statusOf(one, "/status"), statusOf(one, "/up/ready"), statusOf(two, "/up/live")]);
    const up = await folder.run("up");
    const upMs = await follow([one, two], 200);

    expect(before).to.deep.equal([200, 200]);
    expect(down).to.deep.include({ code: 0, stderr: "" });
    expect(downMs).to.be.below(FOLLOWED_MS);
    expect(refused.headers.get("retry-after")).to.equal("120");
    expect(open).to.deep.equal([200, 200, 200]);
    expect(up).to.deep.include({ code: 0, stderr: "" });
    expect(upMs).to.be.below(FOLLOWED_MS);
  });

  it("leave the last state while the file is unreadable, also for a process that starts meanwhile", async () => {
    using folder = new ApplicationFolder(WITH_FILE);
    await folder.run("down");
    await using old = await startMain(folder);
    await old.serves();
    folder.write("down.json", "{");

    await old.says("the last known state stays", "errors");
    await using started = await startMain(folder);
    await started.serves();

    expect(await statusOf(old)).to.equal(503);
    expect(await statusOf(started)).to.equal(200);
    expect(started.errors).to.include("its state is unknown");
    expect((await folder.run("down")).code).to.equal(0);
    await follow([old, started], 503);
  });

  it("say since when and by whom, and change nothing the second time", async () => {
    using folder = new ApplicationFolder(WITH_FILE);

    const down = await folder.run("down");
    const again = await folder.run("down", "--json");
    const other = await folder.run("down", "--retry-after", "7", "--json");
    const up = await folder.run("up");
    const upAgain = await folder.run("up");

    const by = `${userInfo().username}@${hostname()}`;
    const [, since] = /since (\S+Z), by /.exec(down.stdout) ?? [];
    expect(down.stdout).to.equal(`the application is in maintenance since ${since}, by ${by}\n`);
    expect(JSON.parse(again.stdout)).to.deep.equal({ engaged: true, since, by });
    expect(JSON.parse(other.stdout)).to.deep.equal({ engaged: true, since, by, retryAfter: 7 });
    expect(up.stdout).to.match(/^the application is up since \S+Z, by \S+\n$/);
    expect(upAgain.stdout).to.equal(up.stdout);
  });

  it("work while another part of the application is away", async () => {
    const broken = `.provide(provide(Broken).useFactory(() => new Broken()))`;
    using folder = new ApplicationFolder({
      "app.js": `
        ${applicationWith(`.maintenance(${HANDLE})`, broken)}
        class Broken extends Subsystem {
          kind = "mail";
          start() { throw new Error("away"); }
          stop() {}
        }
      `,
    });

    expect(await folder.run("down")).to.deep.include({ code: 0, stderr: "" });
  });

  const without: readonly (readonly [title: string, maintenance: string, message: string])[] = [
    ["no maintenance stage", "", "the application has no maintenance stage"],
    ["a handle without a store", ".maintenance()", "the maintenance of the application has no store"],
  ];
  for (const [title, maintenance, message] of without) {
    it(`say what is missing with ${title}`, async () => {
      using folder = new ApplicationFolder({ "app.js": applicationWith(maintenance) });

      for (const { code, stderr, stdout } of [await folder.call("down"), await folder.call("up")]) {
        expect(code).to.equal(1);
        expect(stderr).to.include(message).and.include("at app.js").and.include("fix: call .maintenance(");
        expect(stdout).to.equal("");
      }
    });
  }

  for (const wrong of ["", "-1", "1.5", "soon", "99999999999"]) {
    it(`refuse the Retry-After ${JSON.stringify(wrong)}`, async () => {
      using folder = new ApplicationFolder(WITH_FILE);

      const { code, stderr } = await folder.call("down", `--retry-after=${wrong}`);

      expect(code).to.equal(2);
      expect(stderr).to.include("fix: stagecraft down --retry-after 120");
    });
  }

  it("end with the file and the fix where the state cannot be written", async () => {
    using folder = new ApplicationFolder({
      "app.js": applicationWith(`.maintenance(${HANDLE.replace("down.json", "/proc/down.json")})`),
    });

    const { code, stderr } = await folder.run("down");

    expect(code).to.equal(1);
    expect(stderr).to.include("/proc/down.json").and.include("fix:").and.not.include("    at ");
  });
});
