import { Clock, Injectable } from "@stagecraft/framework";
import { sql, UniqueViolationError } from "@stagecraft/framework/db";
import type { Selectable } from "kysely";
import { LinksDatabase, type Tables } from "./database.js";
import { formatDay, type DayVisits, LinkStore, type Link, type LinkSlice } from "./link-store.js";

const DAYS = 14;

/** The links of the database. Their number is limited, because the public may add links without end: the oldest makes room. */
@Injectable()
export class StoredLinks extends LinkStore {
  static readonly capacity = 10_000;

  constructor(
    private readonly db: LinksDatabase,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async list({ query = "", owner, from = 0, count }: LinkSlice): Promise<readonly Link[]> {
    const rows = await this.db.query
      .selectFrom("links")
      .selectAll()
      .$if(query !== "", (links) => links.where((eb) => eb.or([contains("slug", query), contains("target", query)])))
      .$if(owner !== undefined, (links) => links.where("owner", "=", owner ?? ""))
      .orderBy("created_at", "desc")
      .orderBy("slug")
      .limit(count)
      .offset(from)
      .execute();
    return rows.map(toLink);
  }

  override async totals() {
    const query = this.db.query.selectFrom("links");
    const { links, visits } = await query
      .select(({ fn }) => [fn.countAll<number>().as("links"), fn.sum<number | null>("visits").as("visits")])
      .executeTakeFirstOrThrow();
    return { links, visits: Number(visits) };
  }

  override async mostVisited(count: number): Promise<readonly Link[]> {
    const query = this.db.query.selectFrom("links").selectAll().orderBy("visits", "desc");
    return (await query.orderBy("slug").limit(count).execute()).map(toLink);
  }

  override async find(slug: string): Promise<Link | undefined> {
    const row = await this.db.query.selectFrom("links").selectAll().where("slug", "=", slug).executeTakeFirst();
    return row && toLink(row);
  }

  override async add(slug: string, target: string, owner?: string): Promise<Link | undefined> {
    const row = { slug, target, owner: owner ?? null, created_at: this.now().toISOString(), visits: 0 };
    try {
      await this.db.transaction(async () => {
        await this.makeRoom();
        await this.db.query.insertInto("links").values(row).execute();
      });
      return toLink(row);
    } catch (error) {
      if (error instanceof UniqueViolationError) return undefined;
      throw error;
    }
  }

  override countVisit(slug: string, day: string): Promise<void> {
    return this.db.transaction(async () => {
      const links = this.db.query.updateTable("links").where("slug", "=", slug);
      const { numUpdatedRows } = await links
        .set(({ eb }) => ({ visits: eb("visits", "+", 1) }))
        .executeTakeFirstOrThrow();
      // The link was removed meanwhile.
      if (numUpdatedRows === 0n) return;
      await this.db.query
        .insertInto("clicks")
        .values({ slug, day, visits: 1 })
        .onConflict((conflict) =>
          conflict.columns(["slug", "day"]).doUpdateSet(({ eb }) => ({ visits: eb("clicks.visits", "+", 1) })),
        )
        .execute();
    });
  }

  override async visitsByDay(slug: string): Promise<readonly DayVisits[]> {
    const days = Array.from({ length: DAYS }, (_, at) => formatDay(this.now(), DAYS - 1 - at));
    const query = this.db.query.selectFrom("clicks").select(["day", "visits"]).where("slug", "=", slug);
    const rows = await query.where("day", ">=", days[0] ?? "").execute();
    const counted = new Map(rows.map(({ day, visits }) => [day, visits]));
    return days.map((day) => ({ day, visits: counted.get(day) ?? 0 }));
  }

  override async remove(slug: string): Promise<boolean> {
    const { numDeletedRows } = await this.db.query
      .deleteFrom("links")
      .where("slug", "=", slug)
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }

  override async removeUnused(since: string): Promise<number> {
    const { numDeletedRows } = await this.db.query
      .deleteFrom("links")
      .where("owner", "is", null)
      .where("created_at", "<", since)
      .where("slug", "not in", (eb) => eb.selectFrom("clicks").select("clicks.slug").where("day", ">=", since))
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  private async makeRoom(): Promise<void> {
    const { links } = await this.totals();
    if (links < StoredLinks.capacity) return;
    const oldest = this.db.query.selectFrom("links").select("slug").orderBy("created_at").limit(1);
    await this.db.query.deleteFrom("links").where("slug", "in", oldest).execute();
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

/** `%` and `_` of the text are not wildcards. */
function contains(column: "slug" | "target", text: string) {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}

function toLink({ slug, target, owner, created_at: createdAt, visits }: Selectable<Tables["links"]>): Link {
  return { slug, target, createdAt, visits, ...(owner !== null && { owner }) };
}
