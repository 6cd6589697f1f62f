/** Our entry in the TechEmpower scenarios: a repository over PostgreSQL, its controller, and the header that the verifier asks for. */
import {
  Application,
  type ApplicationBuilder,
  type Context,
  Controller,
  Get,
  Injectable,
  Layer,
  Module,
  NotFoundError,
  provide,
  Reply,
} from "@stagecraft/framework";
import { postgres } from "@stagecraft/framework/db/postgres";
import { countOf, fortunesPage, randomIds, randomNumber, type World } from "../techempower-rules.js";
import { WorldDatabase } from "../techempower-tables.js";

@Injectable()
class WorldStore {
  constructor(private readonly db: WorldDatabase) {}

  async find(id: number): Promise<World> {
    const world = await this.db.worldById.first(id);
    if (world === undefined) throw new NotFoundError(`no world ${id}`);
    return world;
  }

  fortunes() {
    return this.db.allFortunes.all();
  }

  /** One statement; the rows are in the order of their ids. */
  async update(worlds: readonly World[]): Promise<void> {
    const ids = worlds.map(({ id }) => id);
    const numbers = worlds.map(({ randomNumber: number }) => number);
    await this.db.setNumbers.all(ids, numbers);
  }
}

@Controller("/")
class WorldsController {
  constructor(private readonly store: WorldStore) {}

  @Get("/db")
  one() {
    return this.store.find(randomNumber());
  }

  @Get("/queries")
  many(ctx: Context) {
    return this.found(countOf(ctx.search()["queries"]));
  }

  @Get("/fortunes")
  async fortunes() {
    return Reply.html(fortunesPage(await this.store.fortunes()));
  }

  @Get("/updates")
  async updates(ctx: Context) {
    const worlds = await this.found(countOf(ctx.search()["queries"]));
    const updated = worlds.map(({ id }) => ({ id, randomNumber: randomNumber() }));
    await this.store.update(updated);
    return updated;
  }

  private found(count: number): Promise<World[]> {
    return Promise.all(randomIds(count).map((id) => this.store.find(id)));
  }
}

/** The framework sends no such header. */
class ServerName extends Layer {
  override wrap(inner: (ctx: Context) => void | Promise<void>) {
    return (ctx: Context) => {
      ctx.set("Server", "stagecraft");
      return inner(ctx);
    };
  }
}

/** A request of 500 queries has as many that wait for a connection. */
const POOL = { max: 10, maxWaiting: 1_000_000 };

export function techempower(url: string): ApplicationBuilder {
  @Module({
    controllers: [WorldsController],
    providers: [WorldStore, provide(WorldDatabase).useFactory(() => new WorldDatabase(postgres({ url, pool: POOL })))],
  })
  class WorldsModule {}

  return Application.create(WorldsModule).layer(new ServerName());
}
