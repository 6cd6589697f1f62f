/** The store of links. The abstract class is the injected token; tests replace it. */
export interface Link {
  readonly slug: string;
  readonly target: string;
  readonly createdAt: string;
  readonly visits: number;
  /** The name of the account; missing for a link of a program. */
  readonly owner?: string;
}

/** The visits of one day in UTC. */
export interface DayVisits {
  /** For example `2026-11-22`. */
  readonly day: string;
  readonly visits: number;
}

export abstract class LinkStore {
  abstract all(): Promise<readonly Link[]>;
  abstract find(slug: string): Promise<Link | undefined>;
  /** `undefined` where the slug exists already. */
  abstract add(slug: string, target: string, owner?: string): Promise<Link | undefined>;
  abstract countVisit(slug: string): Promise<void>;
  /** The visits of each of the last 14 days, the oldest first. */
  abstract visitsByDay(slug: string): Promise<readonly DayVisits[]>;
  abstract remove(slug: string): Promise<boolean>;
}
