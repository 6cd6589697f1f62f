import { Module } from "@stagecraft/framework";
import { Tokens } from "./tokens.js";
import { UsersController } from "./users.controller.js";
import { Users } from "./users.js";
import { Recognized, SignedIn } from "./viewer.js";

@Module({
  controllers: [UsersController],
  providers: [Users, Tokens, Recognized, SignedIn],
  exports: [Recognized, SignedIn],
})
export class UsersModule {}
