import { Module } from "@stagecraft/framework";
import { ProfilesController } from "./profiles.controller.js";
import { Profiles } from "./profiles.js";

@Module({ controllers: [ProfilesController], providers: [Profiles] })
export class ProfilesModule {}
