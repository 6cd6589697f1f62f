import { Module } from "@stagecraft/framework";
import { ArticleLists } from "./article-lists.js";
import { ArticlesController } from "./articles.controller.js";
import { Articles } from "./articles.js";
import { CommentsController } from "./comments.controller.js";
import { Comments } from "./comments.js";

@Module({
  controllers: [ArticlesController, CommentsController],
  providers: [Articles, ArticleLists, Comments],
})
export class ArticlesModule {}
