/**
 * The application that the spec of deploys releases: articles whose column `name` becomes `title`. A release is a folder with this compiled
 * file and the migrations.
 */
import {
  Application,
  type ApplicationBuilder,
  type Context,
  Controller,
  Get,
  inject,
  Module,
  NotFoundError,
  Post,
  provide,
  Put,
} from "@stagecraft/framework";
import { Database, readMigrations } from "@stagecraft/framework/db";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";

type Column = "name" | "title";

/** By the table of the guide. */
export interface Release {
  readonly reads: Column;
  readonly writes: readonly Column[];
}

class ShopDatabase extends Database<{ articles: { slug: string } & Partial<Record<Column, string>> }> {}

function createDatabase(): ShopDatabase {
  const { DATABASE_URL, DATABASE_FILE = "" } = process.env;
  const driver = DATABASE_URL === undefined ? sqlite(DATABASE_FILE) : postgres(DATABASE_URL);
  return new ShopDatabase(driver, { migrations: [readMigrations(new URL("migrations/", import.meta.url))] });
}

export function createRelease({ reads, writes }: Release): ApplicationBuilder {
  const valuesOf = (text: string) => Object.fromEntries(writes.map((column) => [column, text]));

  @Controller("/articles")
  class ArticleController {
    constructor(private readonly db = inject(ShopDatabase)) {}

    @Get("/{slug}")
    async show({ params }: Context<"slug">) {
      const { slug } = params;
      const query = this.db.query.selectFrom("articles").select(`${reads} as text`).where("slug", "=", slug);
      const article = await query.executeTakeFirst();
      if (article === undefined) throw new NotFoundError(`no article ${slug}`);
      return article.text ?? "";
    }

    @Post("/{slug}")
    async add(ctx: Context<"slug">) {
      const row = { slug: ctx.params.slug, ...valuesOf(await ctx.text()) };
      await this.db.transaction(() => this.db.query.insertInto("articles").values(row).execute());
      return "";
    }

    @Put("/{slug}")
    async change(ctx: Context<"slug">) {
      const query = this.db.query.updateTable("articles").set(valuesOf(await ctx.text()));
      await query.where("slug", "=", ctx.params.slug).execute();
      return "";
    }
  }

  @Controller("/process")
  class ProcessController {
    @Get("/")
    index() {
      return String(process.pid);
    }
  }

  @Module({
    controllers: [ArticleController, ProcessController],
    providers: [provide(ShopDatabase).useFactory(createDatabase)],
  })
  class ShopModule {}

  // HAProxy needs two seconds to see that a process drains.
  return Application.create(ShopModule).lifecycle({ drainDelayMs: 3_000 }).trustedProxies("127.0.0.1").errorMapping();
}
