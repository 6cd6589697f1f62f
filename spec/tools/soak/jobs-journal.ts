/** Reads the journal of the killing run: which jobs ran, how often, and whether two runs of one job overlapped. */

interface JobRun {
  readonly pid: number;
  readonly token: string;
  readonly from: number;
  /** The end of the handler, or the death of its process. */
  to: number;
}

export interface JournalVerdict {
  readonly runs: number;
  readonly ran_again: number;
  readonly lost: number;
  /** Overlaps of two runs, without those of the process that was stopped: it cannot know that it lost its jobs. */
  readonly twice_at_once: number;
  readonly overlaps_of_the_stopped: number;
}

export interface JournalFacts {
  readonly count: number;
  readonly deaths: ReadonlyMap<number, number>;
  readonly stoppedPid: number;
}

export function readJournal(text: string, { count, deaths, stoppedPid }: JournalFacts): JournalVerdict {
  const runs = new Map<number, JobRun[]>();
  for (const line of text.split("\n")) {
    const [what, number, token = "", pid, at] = line.split(" ");
    if (at === undefined) continue;
    const ofJob = runs.get(Number(number)) ?? [];
    runs.set(Number(number), ofJob);
    if (what === "B")
      ofJob.push({ pid: Number(pid), token, from: Number(at), to: deaths.get(Number(pid)) ?? Infinity });
    else for (const run of ofJob) if (run.pid === Number(pid) && run.token === token) run.to = Number(at);
  }
  const all = [...runs.values()];
  const overlaps = all.flatMap(overlapsOf);
  const ofStopped = overlaps.filter((pids) => pids.includes(stoppedPid)).length;
  return {
    runs: all.flat().length,
    ran_again: all.filter(({ length }) => length > 1).length,
    lost: count - all.filter((ofJob) => ofJob.some(({ to, pid }) => to < (deaths.get(pid) ?? Infinity))).length,
    twice_at_once: overlaps.length - ofStopped,
    overlaps_of_the_stopped: ofStopped,
  };
}

/** The processes of each two runs that overlap. */
function overlapsOf(runs: readonly JobRun[]): readonly (readonly number[])[] {
  const sorted = runs.toSorted((one, other) => one.from - other.from);
  return sorted.flatMap((run, index) => {
    const before = sorted[index - 1];
    return before !== undefined && before.to > run.from ? [[before.pid, run.pid]] : [];
  });
}
