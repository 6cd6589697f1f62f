/** NestJS on Fastify with TypeORM in the TechEmpower scenarios; the updated rows go into one statement. */
import { Controller, Get, Header, Module, Query } from "@nestjs/common";
import { getRepositoryToken, TypeOrmModule } from "@nestjs/typeorm";
import { EntitySchema } from "typeorm";
import { countOf, fortunesPage, randomIds, randomNumber } from "../../../../dist/spec/tools/bench/techempower-rules.js";
import { decorate } from "./support/nest.mjs";
import { fastifyApplication } from "./support/nest-fastify.mjs";
import { serve } from "./support/serve.mjs";

const id = { type: Number, primary: true };
const World = new EntitySchema({
  name: "world",
  columns: { id, randomNumber: { type: Number, name: "randomnumber" } },
});
const Fortune = new EntitySchema({ name: "fortune", columns: { id, message: { type: String } } });

class WorldsController {
  constructor(worlds, fortunes) {
    this.worlds = worlds;
    this.stored = fortunes;
  }

  one() {
    return this.worlds.findOneBy({ id: randomNumber() });
  }

  many(queries) {
    return Promise.all(randomIds(countOf(queries)).map((id) => this.worlds.findOneBy({ id })));
  }

  async fortunes() {
    return fortunesPage(await this.stored.find());
  }

  async updates(queries) {
    const found = await this.many(queries);
    for (const world of found) world.randomNumber = randomNumber();
    await this.worlds.upsert(found, ["id"]);
    return found;
  }
}

const named = Header("Server", "nest");
const queries = [Query("queries")];

decorate(WorldsController, {
  on: [Controller()],
  members: {
    one: { on: [Get("db"), named] },
    many: { on: [Get("queries"), named], parameters: queries },
    fortunes: { on: [Get("fortunes"), named, Header("Content-Type", "text/html; charset=utf-8")] },
    updates: { on: [Get("updates"), named], parameters: queries },
  },
});
// The places of the parameters of the constructor, which `decorate` does not know.
const injected = [World, Fortune].map((entity, index) => ({ index, param: getRepositoryToken(entity) }));
Reflect.defineMetadata("self:paramtypes", injected, WorldsController);
Reflect.defineMetadata("design:paramtypes", [Object, Object], WorldsController);

function run(on) {
  const entities = [World, Fortune];
  const options = { type: "postgres", url: process.env.BENCH_DB, entities, poolSize: 10, logging: false };
  class WorldsModule {}
  Module({
    imports: [TypeOrmModule.forRoot(options), TypeOrmModule.forFeature(entities)],
    controllers: [WorldsController],
  })(WorldsModule);
  return fastifyApplication(on, WorldsModule);
}

await serve({ db: run, queries: run, fortunes: run, updates: run });
