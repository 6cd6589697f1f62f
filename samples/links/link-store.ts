/** The store of links. The abstract class is the injected token; tests replace it. */
export interface Link {
  readonly slug: string;
  readonly target: string;
  readonly createdAt: string;
  readonly visits: number;
  /** The id of the person; missing for a link of a program without a token. */
  readonly owner?: string;
}

/** The visits of one day in UTC. */
export interface DayVisits {
  /** For example `2026-11-22`. */
  readonly day: string;
  readonly visits: number;
}

/** Which links a list has. */
export interface LinkSlice {
  /** A part of the slug or of the target, in any letter case; every link unless set. */
  readonly query?: string;
  /** The links of a person; those of all unless set. */
  readonly owner?: string;
  /** The number of links before the first one; 0 unless set. */
  readonly from?: number;
  readonly count: number;
}

export abstract class LinkStore {
  /** The newest first. */
  abstract list(slice: LinkSlice): Promise<readonly Link[]>;
  abstract totals(): Promise<{ readonly links: number; readonly visits: number }>;
  abstract mostVisited(count: number): Promise<readonly Link[]>;
  abstract find(slug: string): Promise<Link | undefined>;
  /** `undefined` where the slug exists already. */
  abstract add(slug: string, target: string, owner?: string): Promise<Link | undefined>;
  abstract countVisit(slug: string, day: string): Promise<void>;
  /** The visits of each of the last 14 days, the oldest first. */
  abstract visitsByDay(slug: string): Promise<readonly DayVisits[]>;
  abstract remove(slug: string): Promise<boolean>;
  /** Removes the links of programs that were created before a day, and that no visitor has followed since then. Returns their number. */
  abstract removeUnused(since: string): Promise<number>;
}

/** @param before the number of days before the day of `time` */
export function formatDay(time: Date, before = 0): string {
  return new Date(time.getTime() - before * 86_400_000).toISOString().slice(0, 10);
}
