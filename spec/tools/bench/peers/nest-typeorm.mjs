/** NestJS on its Express adapter with TypeORM: a repository that is injected. Logging and synchronization are off. */
import { Controller, Get, Module, NotFoundException, Param } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { getRepositoryToken, TypeOrmModule } from "@nestjs/typeorm";
import { EntitySchema } from "typeorm";
import { decorate } from "./support/nest.mjs";
import { serve } from "./support/serve.mjs";

const Item = new EntitySchema({
  name: "items",
  columns: { id: { type: Number, primary: true }, name: { type: "text" }, price: { type: Number } },
});

class ItemsController {
  constructor(items) {
    this.items = items;
  }

  async show(id) {
    const item = await this.items.findOneBy({ id: Number(id) });
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
    const options = { type: "postgres", url: process.env.BENCH_DB, entities: [Item], poolSize: 10, logging: false };
    class ItemsModule {}
    Module({
      imports: [TypeOrmModule.forRoot(options), TypeOrmModule.forFeature([Item])],
      controllers: [ItemsController],
    })(ItemsModule);
    const app = await NestFactory.create(ItemsModule, new ExpressAdapter(), { logger: false });
    app.disable("x-powered-by");
    app.disable("etag");
    await app.listen(on.port, on.host);
    return app.getHttpServer().address();
  },
});
