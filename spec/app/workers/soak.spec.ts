/** The soak of `npm run workers:kill`, for seconds instead of minutes, without wrk. */
import { expect } from "chai";
import { needs } from "../../support/machine.js";
import { killWorkers, type KillFigures } from "../../tools/soak/workers-kill.js";
import { rollWorkers } from "../../tools/soak/workers-roll.js";
import { killFindings, rollFindings } from "../../tools/soak/workers-verdict.js";

const quiet = (): void => undefined;

describe("workers under load", function () {
  this.timeout(180_000);
  this.slow(60_000);

  describe("that are killed, ended and stopped", () => {
    before(needs("prometheus"));
    let figures: KillFigures;
    before(async () => {
      figures = await killWorkers({ seconds: 0, connections: 0, say: quiet });
    });

    it("lose only what killed processes had taken, and no counter falls in a Prometheus", () => {
      expect(killFindings(figures)).to.deep.equal([]);
      expect(figures.troubles).to.deep.equal({ SIGKILL: 1, SIGTERM: 1, SIGSTOP: 1 });
      expect(figures.answers).to.be.above(0);
    });

    it("are a finding if one loss, one count or one counter is wrong", () => {
      const { answers, leastCounted, losses, unreported } = figures;
      const wrong: readonly KillFigures[] = [
        { ...figures, unexplained: ["one"] },
        { ...figures, fallen: ["one"] },
        { ...figures, refusals: 1 },
        { ...figures, counted: leastCounted - 1 },
        { ...figures, counted: answers + losses.length + 1 },
        { ...figures, unreported: unreported + 3 },
        { ...figures, reportsLost: 1 },
        { ...figures, series: 0 },
      ];

      expect(wrong.map((each) => killFindings(each).length)).to.deep.equal(wrong.map(() => 1));
    });
  });

  describe("that are replaced", () => {
    before(needs("haproxy", "openssl"));

    for (const through of ["nothing", "haproxy"] as const)
      it(`fail no request behind ${through}`, async () => {
        expect(rollFindings(await rollWorkers({ rolls: 1, through, say: quiet }))).to.deep.equal([]);
      });
  });
});
