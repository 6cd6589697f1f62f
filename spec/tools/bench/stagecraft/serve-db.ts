/**
 * Our contender of the database benchmark: an injected repository over the driver that the first argument names. With `-prepared` behind
 * the name, the query is compiled once.
 */

import {
  Application,
  type Context,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundError,
  provide,
} from "@stagecraft/framework";
import { postgres } from "@stagecraft/framework/db/postgres";
import { sqlite } from "@stagecraft/framework/db/sqlite";
import { ItemDatabase } from "../db-items.js";
import { serving } from "./serving.js";

const address = process.env["BENCH_DB"] ?? "";
const [engine, isPrepared] = (process.argv[2] ?? "").split("-");

@Injectable()
class ItemStore {
  constructor(private readonly db: ItemDatabase) {}

  find(id: number) {
    if (isPrepared !== undefined) return this.db.itemById.first(id);
    return this.db.query.selectFrom("items").selectAll().where("id", "=", id).executeTakeFirst();
  }
}

@Controller("/items")
class ItemsController {
  constructor(private readonly store: ItemStore) {}

  @Get("/{id}")
  async show({ params }: Context<"id">) {
    const item = await this.store.find(Number(params.id));
    if (item === undefined) throw new NotFoundError(`no item ${params.id}`);
    return item;
  }
}

@Module({
  controllers: [ItemsController],
  providers: [
    ItemStore,
    provide(ItemDatabase).useFactory(
      () => new ItemDatabase(engine === "postgres" ? postgres(address) : sqlite(address)),
    ),
  ],
})
class ItemsModule {}

await serving(Application.create(ItemsModule));
