import { Cache, Clock, type Context, Controller, Injectable, On } from "@stagecraft/framework";
import { cacheKey } from "@stagecraft/framework/cache";
import { page } from "@stagecraft/framework/pages";
import { mostVisited } from "./contracts.js";
import { translate } from "./languages.js";
import { linkRemoved } from "./link-removed.js";
import { LinkStore, type Link } from "./link-store.js";
import { ranking } from "./links.routes.js";

const MOST = 10;
const FRESH_MS = 5000;
const STALE_MS = 60_000;
/** A stream of the ranking ends after five minutes, so that no client holds it for ever. A page calls again. */
const MAX_CHECKS = 60;

export type VisitedLink = Pick<Link, "slug" | "target" | "visits">;

const RANKING = cacheKey<readonly VisitedLink[]>("ranking");

/** The most visited links. Every visit of a page may ask for them, so the ranking is computed once in five seconds, for all instances. */
@Injectable()
export class Ranking {
  constructor(
    private readonly store: LinkStore,
    private readonly cache: Cache,
    private readonly clock: Clock,
  ) {}

  /** At most a minute old: a visitor gets the old ranking while one request makes the new one. */
  top(): Promise<readonly VisitedLink[]> {
    return this.cache.remember(RANKING, FRESH_MS, () => this.count(), { staleMs: STALE_MS });
  }

  /** The ranking, and again as soon as it has changed. All streams share one cached ranking. */
  async *changes() {
    let sent = "";
    for (let check = 0; check < MAX_CHECKS; check++) {
      const links = await this.top();
      if (JSON.stringify(links) !== sent) yield { data: { links } };
      sent = JSON.stringify(links);
      await new Promise<void>((resolve) => this.clock.setTimeout(resolve, FRESH_MS, { background: true }));
    }
  }

  /** A removed link must not be shown any more. */
  @On(linkRemoved)
  async forget(): Promise<void> {
    await this.cache.delete(RANKING);
  }

  private async count(): Promise<readonly VisitedLink[]> {
    const links = await this.store.mostVisited(MOST);
    return links.map(({ slug, target, visits }) => ({ slug, target, visits }));
  }
}

@Controller(ranking)
export class RankingController {
  constructor(private readonly cached: Ranking) {}

  @ranking.page
  async page(ctx: Context) {
    const description = await translate(ctx, "page-ranking-description");
    return page(mostVisited, { links: await this.cached.top() }).head({ description });
  }

  @ranking.list
  async list() {
    return { links: await this.cached.top() };
  }

  @ranking.live
  live() {
    return this.cached.changes();
  }
}
