/** The scenario of a session, apart so that no other scenario loads sessions. */

import { Application, type Context, Controller, Get, Module } from "@stagecraft/framework";
import { Session, SessionConfig, sessionKey } from "@stagecraft/framework/session";
import { HELLO, NO_NAME, SESSION_KEY } from "../fixtures.js";

const NAME = sessionKey<string>("name");

@Controller("/")
class SessionController {
  @Get("/")
  async name(ctx: Context) {
    return (await Session.of(ctx).get(NAME)) ?? NO_NAME;
  }

  @Get("/begin")
  begin(ctx: Context) {
    Session.of(ctx).put(NAME, HELLO);
  }
}

@Module({ controllers: [SessionController] })
class SessionModule {}

export function session() {
  return Application.create(SessionModule).session(new SessionConfig(SESSION_KEY));
}
