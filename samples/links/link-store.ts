/** Where links are kept. The abstract class is the token that is injected; tests put a double in its place. */
export interface Link {
  readonly slug: string;
  readonly target: string;
  readonly createdAt: string;
  readonly visits: number;
}

export abstract class LinkStore {
  abstract all(): Promise<readonly Link[]>;
  abstract find(slug: string): Promise<Link | undefined>;
  /** `undefined` where the slug is taken. */
  abstract add(slug: string, target: string): Promise<Link | undefined>;
  abstract countVisit(slug: string): Promise<void>;
  abstract remove(slug: string): Promise<boolean>;
}
