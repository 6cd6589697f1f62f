/** Our contender of the database benchmark: an injected repository over the driver that the first argument names. */

import { get } from "node:http";
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
import { freePort } from "../../support/free-port.js";
import { ItemDatabase } from "../db-items.js";

const address = process.env["BENCH_DB"] ?? "";

@Injectable()
class ItemStore {
  constructor(private readonly db: ItemDatabase) {}

  find(id: number) {
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
      () => new ItemDatabase(process.argv[2] === "postgres" ? postgres(address) : sqlite(address)),
    ),
  ],
})
class ItemsModule {}

const port = Number(process.env["PORT"] ?? (await freePort()));
const ended = Application.create(ItemsModule).port(port).build().run();
while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 5));
console.log(`ready ${port}`);
await ended;

function isReady(): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: "127.0.0.1", port, path: "/up/ready", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", () => resolve(false));
  });
}
