import { Clock, Injectable } from "@stagecraft/framework";
import { LinkStore, type DayVisits, type Link } from "./link-store.js";

const DAYS = 14;
const DAY_MS = 86_400_000;

/** Keeps a limited number of the newest links in memory, because the public may add links without end. */
@Injectable()
export class MemoryLinks extends LinkStore {
  static readonly capacity = 10_000;
  private readonly links = new Map<string, Link>();
  /** The visits by day; days outside the chart are dropped with the next visit. */
  private readonly days = new Map<string, Map<string, number>>();

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
    if (this.links.size > MemoryLinks.capacity && oldest.done !== true) await this.remove(oldest.value);
    return link;
  }

  override async countVisit(slug: string): Promise<void> {
    const link = this.links.get(slug);
    if (link === undefined) return;
    this.links.set(slug, { ...link, visits: link.visits + 1 });
    const before = this.days.get(slug);
    const lately = this.lastDays().flatMap((day) => {
      const visits = before?.get(day);
      return visits === undefined ? [] : [[day, visits] as const];
    });
    const today = this.dayBefore(0);
    this.days.set(slug, new Map([...lately, [today, (before?.get(today) ?? 0) + 1]]));
  }

  override async visitsByDay(slug: string): Promise<readonly DayVisits[]> {
    const counted = this.days.get(slug);
    return this.lastDays().map((day) => ({ day, visits: counted?.get(day) ?? 0 }));
  }

  override async remove(slug: string): Promise<boolean> {
    this.days.delete(slug);
    return this.links.delete(slug);
  }

  private lastDays(): readonly string[] {
    return Array.from({ length: DAYS }, (_, at) => this.dayBefore(DAYS - 1 - at));
  }

  private dayBefore(days: number): string {
    return new Date(this.clock.now() - days * DAY_MS).toISOString().slice(0, 10);
  }
}
