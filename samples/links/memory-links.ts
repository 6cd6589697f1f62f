import { Clock, Injectable } from "@stagecraft/framework";
import { LinkStore, type Link } from "./link-store.js";

/** Keeps a limited number of the newest links in memory, because the public may add links without end. */
@Injectable()
export class MemoryLinks extends LinkStore {
  static readonly capacity = 10_000;
  private readonly links = new Map<string, Link>();

  constructor(private readonly clock: Clock) {
    super();
  }

  override async all(): Promise<readonly Link[]> {
    return [...this.links.values()].toReversed();
  }

  override async find(slug: string): Promise<Link | undefined> {
    return this.links.get(slug);
  }

  override async add(slug: string, target: string, owner?: string): Promise<Link | undefined> {
    if (this.links.has(slug)) return undefined;
    const createdAt = new Date(this.clock.now()).toISOString();
    const link: Link = { slug, target, createdAt, visits: 0, ...(owner !== undefined && { owner }) };
    this.links.set(slug, link);
    const oldest = this.links.keys().next();
    if (this.links.size > MemoryLinks.capacity && oldest.done !== true) this.links.delete(oldest.value);
    return link;
  }

  override async countVisit(slug: string): Promise<void> {
    const link = this.links.get(slug);
    if (link !== undefined) this.links.set(slug, { ...link, visits: link.visits + 1 });
  }

  override async remove(slug: string): Promise<boolean> {
    return this.links.delete(slug);
  }
}
