import { Module } from "@stagecraft/framework";
import { UsersModule } from "../users/users.module.js";
import { ArticleLists } from "./article-lists.js";
import { ArticlesController } from "./articles.controller.js";
import { Articles } from "./articles.js";
import { CommentsController } from "./comments.controller.js";
import { Comments } from "./comments.js";

@Module({
  imports: [UsersModule],
  controllers: [ArticlesController, CommentsController],
  providers: [Articles, ArticleLists, Comments],
})
export class ArticlesModule {}
