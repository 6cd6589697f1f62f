/**
 * NestJS on its Express adapter with TypeORM: the list of articles on the tables of samples/conduit. Relations are loaded by one query each,
 * which is faster here than one query with a join of tags and favorites.
 */
import { Controller, Get, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { getRepositoryToken, TypeOrmModule } from "@nestjs/typeorm";
import { EntitySchema } from "typeorm";
import { decorate } from "./support/nest.mjs";
import { serve } from "./support/serve.mjs";

const text = { type: "text" };
const id = { type: Number, primary: true, generated: true };

const User = new EntitySchema({
  name: "users",
  columns: { id, username: text, bio: { ...text, nullable: true }, image: { ...text, nullable: true } },
});

const Tag = new EntitySchema({
  name: "tags",
  columns: {
    articleId: { type: Number, primary: true, name: "article" },
    tag: { ...text, primary: true },
    position: { type: Number },
  },
  relations: { article: { type: "many-to-one", target: "articles", joinColumn: { name: "article" } } },
});

const Article = new EntitySchema({
  name: "articles",
  columns: {
    id,
    slug: text,
    title: text,
    description: text,
    body: { ...text, select: false },
    createdAt: { ...text, name: "created_at" },
    updatedAt: { ...text, name: "updated_at" },
  },
  relations: {
    author: { type: "many-to-one", target: "users", joinColumn: { name: "author" } },
    tags: { type: "one-to-many", target: "tags", inverseSide: "article" },
    fans: {
      type: "many-to-many",
      target: "users",
      joinTable: { name: "favorites", joinColumn: { name: "article" }, inverseJoinColumn: { name: "user" } },
    },
  },
});

class ArticlesController {
  constructor(articles) {
    this.articles = articles;
  }

  async index() {
    const [articles, articlesCount] = await this.articles.findAndCount({
      relations: { author: true, tags: true, fans: true },
      relationLoadStrategy: "query",
      order: { id: "DESC" },
      take: 20,
    });
    return { articles: articles.map(shown), articlesCount };
  }
}
decorate(ArticlesController, { on: [Controller("api/articles")], members: { index: { on: [Get()] } } });
// The place of a parameter of the constructor, which `decorate` does not know.
Reflect.defineMetadata("self:paramtypes", [{ index: 0, param: getRepositoryToken(Article) }], ArticlesController);
Reflect.defineMetadata("design:paramtypes", [Object], ArticlesController);

function shown({ slug, title, description, createdAt, updatedAt, author, tags, fans }) {
  const { username, bio, image } = author;
  return {
    slug,
    title,
    description,
    tagList: tags.toSorted((one, other) => one.position - other.position).map(({ tag }) => tag),
    createdAt,
    updatedAt,
    favorited: false,
    favoritesCount: fans.length,
    author: { username, bio, image, following: false },
  };
}

await serve({
  conduit: async (on) => {
    const entities = [User, Tag, Article];
    const options = { type: "postgres", url: process.env.BENCH_DB, entities, poolSize: 10, logging: false };
    class ArticlesModule {}
    Module({
      imports: [TypeOrmModule.forRoot(options), TypeOrmModule.forFeature([Article])],
      controllers: [ArticlesController],
    })(ArticlesModule);
    const app = await NestFactory.create(ArticlesModule, new ExpressAdapter(), { logger: false });
    app.disable("x-powered-by");
    app.disable("etag");
    await app.listen(on.port, on.host);
    return app.getHttpServer().address();
  },
});
