import { Module, provide } from "@stagecraft/framework";
import { Passwords } from "@stagecraft/framework/auth";
import { UsersController } from "./users.controller.js";
import { Users } from "./users.js";
import { Viewers } from "./viewer.js";

@Module({
  controllers: [UsersController],
  providers: [Users, Viewers, provide(Passwords).useFactory(() => new Passwords())],
})
export class UsersModule {}
