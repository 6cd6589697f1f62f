/** What is not as promised in the figures of workers under load; nothing if all is. */
import type { KillFigures } from "./workers-kill.js";
import type { RollFigures } from "./workers-roll.js";

/** At most so many findings of one kind are shown. */
const SHOWN = 10;

export function killFindings(figures: KillFigures): readonly string[] {
  const { answers, refusals, losses, unexplained, counted, leastCounted, unreported, troubles } = figures;
  const killed = troubles.SIGKILL + troubles.SIGSTOP;
  return [
    ...unexplained.slice(0, SHOWN).map((each) => `lost although its process was not killed: ${each}`),
    ...figures.fallen.slice(0, SHOWN),
    ...finding(refusals > 0, `${refusals} responses were not 200`),
    ...finding(counted < leastCounted, `${counted} requests are counted, and at least ${leastCounted} were reported`),
    ...finding(
      counted > answers + losses.length,
      `${counted} requests are counted, and ${answers + losses.length} were sent`,
    ),
    ...finding(unreported > killed, `${unreported} workers have not reported, and ${killed} were killed`),
    ...finding(figures.reportsLost > 0, `${figures.reportsLost} reports were lost`),
    ...finding(figures.scrapes === 0 || figures.series === 0, "Prometheus has seen nothing"),
    ...wrkFindings(figures, killed),
  ];
}

function wrkFindings({ wrk }: KillFigures, killed: number): readonly string[] {
  if (wrk === undefined) return [];
  const { responses, refused, cut, overdue, failed } = wrk;
  return [
    ...finding(responses === 0, "wrk has received nothing"),
    ...finding(cut > 0 && killed === 0, `wrk lost ${cut} responses, and no worker was killed`),
    ...finding(refused + overdue + failed > 0, `wrk: ${refused} refused, ${overdue} overdue, ${failed} failed`),
  ];
}

export function rollFindings({ rolls, answers, failures }: RollFigures): readonly string[] {
  return [
    ...failures.slice(0, SHOWN).map((failure) => `failed during a restart: ${failure}`),
    ...finding(failures.length > SHOWN, `${failures.length} requests failed`),
    ...finding(rolls > 0 && answers === 0, "no request was sent"),
  ];
}

function finding(isTrue: boolean, text: string): readonly string[] {
  return isTrue ? [text] : [];
}
