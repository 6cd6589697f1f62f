import { Module, provide } from "@stagecraft/framework";
import { Passwords } from "@stagecraft/framework/auth";
import { Tokens } from "./tokens.js";
import { UsersController } from "./users.controller.js";
import { Users } from "./users.js";
import { Viewers } from "./viewer.js";

@Module({
  controllers: [UsersController],
  providers: [Users, Tokens, Viewers, provide(Passwords).useFactory(() => new Passwords())],
})
export class UsersModule {}
