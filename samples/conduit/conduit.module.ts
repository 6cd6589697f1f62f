import { Module } from "@stagecraft/framework";
import { ArticlesModule } from "./articles/articles.module.js";
import { ProfilesModule } from "./profiles/profiles.module.js";
import { UsersModule } from "./users/users.module.js";

@Module({ imports: [UsersModule, ProfilesModule, ArticlesModule] })
export class ConduitModule {}
