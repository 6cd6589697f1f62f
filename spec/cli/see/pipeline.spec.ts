import { expect } from "chai";
import { STAGES } from "../../../lib/pipeline/table.js";
import { ApplicationFolder, SMALL_APPLICATION } from "../../support/application-folder.js";

const WITH_ACCESS_LOG = SMALL_APPLICATION.replace(".requestId()", ".accessLog()");

describe("stagecraft pipeline", () => {
  it("lists every stage in its order, with its state and its reason", async () => {
    using folder = new ApplicationFolder();

    const { code, stdout } = await folder.call("pipeline");

    const lines = stdout.trimEnd().split("\n");
    expect(code).to.equal(0);
    expect(lines).to.have.length(STAGES.length);
    expect(lines[7]).to.match(/^ 8 {2}requestId +on +outside the admission stages/);
    expect(lines[0]).to.match(/^ 1 {2}devProxy +off/);
  });

  for (const args of [[], ["--json"]]) {
    it(`passes a check against its output${args.join("")}, and fails one against that of other stages`, async () => {
      using folder = new ApplicationFolder();
      folder.write("pipeline.txt", (await folder.call("pipeline", ...args)).stdout);
      folder.write("other.js", WITH_ACCESS_LOG);

      const same = await folder.call("pipeline", "--check", "pipeline.txt");
      const other = await folder.call("pipeline", "--check", "pipeline.txt", "--app", "other.js");

      expect(same).to.deep.equal({ code: 0, stdout: "", stderr: "" });
      expect(other.code).to.equal(1);
      expect(other.stdout.split("\n")).to.deep.equal([
        "requestId: on in pipeline.txt, off in the application",
        "accessLog: off in pipeline.txt, on in the application",
        "",
      ]);
      expect(other.stderr).to.include("fix: stagecraft pipeline > pipeline.txt");
    });
  }

  it("reports a file that is missing", async () => {
    using folder = new ApplicationFolder();

    const { code, stderr } = await folder.call("pipeline", "--check", "none.txt");

    expect(code).to.equal(1);
    expect(stderr).to.include("none.txt cannot be read").and.include("fix: ");
  });
});
