import { Module } from "@stagecraft/framework";
import { Tokens } from "./tokens.js";
import { UsersController } from "./users.controller.js";
import { Users } from "./users.js";
import { Viewers } from "./viewer.js";

@Module({ controllers: [UsersController], providers: [Users, Tokens, Viewers] })
export class UsersModule {}
