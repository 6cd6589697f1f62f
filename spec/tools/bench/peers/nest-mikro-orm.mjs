/** NestJS on its Express adapter with MikroORM: a repository that is injected, and an entity manager for each request, as its module does it. */
import { EntitySchema } from "@mikro-orm/core";
import { getRepositoryToken, MikroOrmModule } from "@mikro-orm/nestjs";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { Controller, Get, Module, NotFoundException, Param } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { decorate } from "./support/nest.mjs";
import { serve } from "./support/serve.mjs";

class Item {}

const ItemSchema = new EntitySchema({
  class: Item,
  tableName: "items",
  properties: { id: { type: "integer", primary: true }, name: { type: "text" }, price: { type: "integer" } },
});

class ItemsController {
  constructor(items) {
    this.items = items;
  }

  async show(id) {
    const item = await this.items.findOne(Number(id));
    if (item === null) throw new NotFoundException();
    return item;
  }
}
decorate(ItemsController, {
  on: [Controller("items")],
  members: { show: { on: [Get(":id")], parameters: [Param("id")] } },
});
// The place of a parameter of the constructor, which `decorate` does not know.
Reflect.defineMetadata("self:paramtypes", [{ index: 0, param: getRepositoryToken(Item) }], ItemsController);
Reflect.defineMetadata("design:paramtypes", [Object], ItemsController);

await serve({
  postgres: async (on) => {
    const options = {
      driver: PostgreSqlDriver,
      clientUrl: process.env.BENCH_DB,
      entities: [ItemSchema],
      pool: { max: 10 },
      debug: false,
    };
    class ItemsModule {}
    Module({
      imports: [MikroOrmModule.forRoot(options), MikroOrmModule.forFeature([ItemSchema])],
      controllers: [ItemsController],
    })(ItemsModule);
    const app = await NestFactory.create(ItemsModule, new ExpressAdapter(), { logger: false });
    app.disable("x-powered-by");
    app.disable("etag");
    await app.listen(on.port, on.host);
    return app.getHttpServer().address();
  },
});
