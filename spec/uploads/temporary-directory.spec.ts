/** The directory of uploads: what a killed process leaves, what the sweep removes, and what it leaves alone. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { Uploads } from "@stagecraft/framework/uploads";
import { expect } from "chai";
import { RequestFiles } from "../../lib/uploads/received-file.js";
import { TemporaryDirectory } from "../../lib/uploads/temporary-directory.js";
import { SystemClock } from "../../lib/runtime/clock.js";
import { Child } from "../support/child.js";
import { Conversation } from "../support/conversation.js";
import { Gate } from "../support/gate.js";
import { fileOf, formBytes, headOf, UploadApp } from "../support/multipart.js";
import { rejectionOf } from "../support/rejection-of.js";
import { canMount, SmallDisk } from "../support/small-disk.js";
import { until } from "../support/until.js";

const filesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

describe("the directory of uploads", function () {
  this.timeout(60_000);
  let base: string;
  const directoryOf = (isPublic = false) => new TemporaryDirectory(base, isPublic, new SystemClock());

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "uploads-"));
  });

  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it("is swept of the files of a killed process at the next start", async function () {
    this.slow(5000);
    await using child = await Child.start("../uploads/killed-application.js", { UPLOADS: base });
    await child.serves();
    await using socket = await Conversation.with(child.port);
    const body = formBytes(fileOf(500_000));
    socket.say(headOf(body.length)).say(body.subarray(0, 200_000).toString("latin1"));
    await until(() => filesIn(base) === 1);
    child.kill("SIGKILL");
    await child.exitCode();
    expect(filesIn(base)).to.equal(1);

    const next = new Uploads({ directory: base });
    await next.start();

    expect(filesIn(base)).to.equal(0);
    await next.stop();
    expect(readdirSync(base)).to.deep.equal([]);
  });

  it("keeps no file of a form that does not fit on the disk, and the response is a 507", async function () {
    this.slow(5000);
    await using child = await Child.start("../uploads/killed-application.js", { UPLOADS: base }, { fileBlocks: 256 });
    await child.serves();
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(500_000)]), "large.bin");

    const answer = await fetch(child.url, { method: "POST", body: form });

    expect([answer.status, ((await answer.json()) as { detail: string }).detail]).to.deep.equal([
      507,
      "There is no space for the files.",
    ]);
    await until(() => filesIn(base) === 0);
  });

  if (canMount()) {
    it("refuses forms with 507 while its disk is full, keeps nothing, and accepts the next form", async () => {
      using disk = new SmallDisk(512);
      const directory = disk.folderOf("root");
      await using uploads = await UploadApp.start(undefined, { directory });

      const full = await uploads.post(formBytes(fileOf(1000), fileOf(1_000_000)));
      await full.text();
      await until(() => filesIn(directory) === 0);

      expect(full.status).to.equal(507);
      expect((await uploads.post(formBytes(fileOf(300_000)))).status).to.equal(200);
    });
  }

  it("keeps no file that is opened after its response has ended", async () => {
    const [asked, goOn] = [new Gate(), new Gate()];
    const folder = join(base, "made-again");
    const directory = {
      createPath: () => Promise.resolve(join(folder, "file")),
      recreate: () => {
        mkdirSync(folder);
        asked.open();
        return goOn.passed;
      },
    };
    const files = new RequestFiles(directory);
    const left = new AbortController();
    const receiving = files.receive(new Readable({ read() {} }), "name", left.signal);
    await asked.passed;

    await files.removeAll();
    left.abort();
    goOn.open();

    expect(await rejectionOf(receiving)).to.have.property("name", "AbortError");
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it("keeps the files of a living process, and another directory of its own process", async () => {
    const [one, other] = [directoryOf(), directoryOf()];
    await one.create();
    writeFileSync(await one.createPath(), "");
    await other.create();

    expect(await other.sweep()).to.equal(0);
    expect(filesIn(base)).to.equal(1);
  });

  for (const [what, minutes, isSwept] of [
    ["that was touched five minutes ago", 5, false],
    ["that nothing has touched for eleven minutes", 11, true],
  ] as const) {
    it(`${isSwept ? "loses" : "keeps"} the directory of another host ${what}`, async () => {
      const foreign = join(base, "0123456789ab-1-1700000000000-0123456789abcdef");
      mkdirSync(foreign);
      const then = new Date(Date.now() - minutes * 60_000);
      utimesSync(foreign, then, then);

      await directoryOf().sweep();

      expect(existsSync(foreign)).to.equal(!isSwept);
    });
  }

  it("keeps the files that are not its own", async () => {
    mkdirSync(join(base, "photos"));
    writeFileSync(join(base, "a-file"), "");

    await directoryOf().sweep();

    expect(readdirSync(base)).to.have.members(["photos", "a-file"]);
  });

  it("can be read by its user only", async () => {
    const directory = directoryOf();
    await directory.create();

    expect(statSync(directory.path).mode & 0o777).to.equal(0o700);
  });

  it("is refused if other users share it and one of them could change it", async () => {
    chmodSync(base, 0o777);

    expect(await rejectionOf(directoryOf(true).create())).to.have.property("code", "E_UPLOADS_DIRECTORY");
    chmodSync(base, 0o700);
    await directoryOf(true).create();
  });

  it("stops the start if it cannot be created", async () => {
    writeFileSync(join(base, "file"), "");

    const error = await rejectionOf(new Uploads({ directory: join(base, "file", "below") }).start());

    expect(error).to.have.property("code", "E_UPLOADS_DIRECTORY");
  });

  it("is created again after a cleaner has removed it", async () => {
    await using uploads = await UploadApp.start(undefined, { directory: base });
    for (const name of readdirSync(base)) rmSync(join(base, name), { recursive: true });

    expect((await uploads.post(formBytes(fileOf(10)))).status).to.equal(200);
  });
});
