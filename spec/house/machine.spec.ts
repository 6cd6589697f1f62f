/** What `npm test` does where programs are missing that specs need: as root on Debian it installs them, elsewhere it names them. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { ROOT } from "../support/sources.js";

const PROGRAM = `import { prepareMachine } from "${join(ROOT, "dist/spec/support/machine.js")}"; prepareMachine();`;
const MISSING = ["curl", "redis-server", "chromium", "prometheus", "wrk"];
const PENDING = /^specs that need them are pending: install .*curl.*wrk/;
const installs = process.getuid?.() === 0 && existsSync("/etc/debian_version");

describe("the preparation of the machine", function () {
  this.timeout(60_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "machine-"));
    // An apt-get that fails shows its place among the lines.
    writeFileSync(join(folder, "apt-get"), "#!/bin/sh\nexit 3\n");
    chmodSync(join(folder, "apt-get"), 0o755);
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** The lines on standard error, with a PATH that holds only an apt-get. */
  function prepared(script: string): readonly string[] {
    const env = { PATH: folder, npm_lifecycle_event: script };
    const args = ["--input-type=module", "--eval", PROGRAM];
    return spawnSync(process.execPath, args, { env, encoding: "utf8" }).stderr.split("\n").filter(Boolean);
  }

  it("says in one line what it installs, before it does, as root on Debian", () => {
    const lines = prepared("test");

    const [first = "", second = ""] = lines;
    if (installs) {
      expect(first).to.match(/^npm test runs as root on Debian: apt-get installs .+, which specs need$/);
      expect(MISSING.filter((name) => !first.includes(name))).to.deep.equal([]);
      expect(second).to.contain("apt-get failed");
    }
    expect(lines).to.have.length(installs ? 3 : 1);
    expect(lines.at(-1)).to.match(PENDING);
  });

  it("installs nothing outside npm test, and names the missing programs", () => {
    const lines = prepared("watch");

    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(PENDING);
  });
});
