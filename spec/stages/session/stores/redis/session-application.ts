/** An application with sessions in Redis that a spec runs as several processes. The environment names its port and the server. */
import { Application, Route, Routes, type Context } from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { installLogging } from "@stagecraft/framework/observe";
import { Session, SessionConfig } from "@stagecraft/framework/session";
import { RedisSessionStore } from "@stagecraft/framework/session/redis";

const routes = new Routes([
  Route.get("/name", async (ctx: Context) => (await Session.of(ctx).get("name")) ?? "nobody"),
  Route.post("/name/{name}", (ctx: Context<"name">) => Session.of(ctx).put("name", ctx.params.name)),
  Route.post("/logout", (ctx: Context) => Session.of(ctx).flush()),
]);

installLogging("info");
const { PORT, REDIS_URL = "" } = process.env;
// A busy machine may need longer than the default for a command.
const cache = new RedisCache({ url: REDIS_URL, commandTimeoutMs: 15_000, client: { connectTimeout: 15_000 } });
await Application.create()
  .port(Number(PORT))
  .session(SessionConfig.dev("5a".repeat(64)), new RedisSessionStore(cache))
  .routes(routes)
  .build()
  .run();
