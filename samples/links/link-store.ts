/** The store of links. The abstract class is the injected token; tests replace it. */
export interface Link {
  readonly slug: string;
  readonly target: string;
  readonly createdAt: string;
  readonly visits: number;
  /** The name of the account; missing for a link of a program. */
  readonly owner?: string;
}

export abstract class LinkStore {
  abstract all(): Promise<readonly Link[]>;
  abstract find(slug: string): Promise<Link | undefined>;
  /** `undefined` where the slug exists already. */
  abstract add(slug: string, target: string, owner?: string): Promise<Link | undefined>;
  abstract countVisit(slug: string): Promise<void>;
  abstract remove(slug: string): Promise<boolean>;
}
