import { Module } from "@stagecraft/framework";
import { UsersModule } from "../users/users.module.js";
import { ProfilesController } from "./profiles.controller.js";
import { Profiles } from "./profiles.js";

@Module({ imports: [UsersModule], controllers: [ProfilesController], providers: [Profiles] })
export class ProfilesModule {}
