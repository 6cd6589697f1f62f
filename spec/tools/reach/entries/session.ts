import { strict as assert } from "node:assert";
import { randomBytes } from "node:crypto";
import { Application, Route, Routes } from "@stagecraft/framework";
import { MemorySessionStore, Session, SessionConfig, sessionKey } from "@stagecraft/framework/session";
import { testApp } from "@stagecraft/framework/testing";
import { obeysSessionStore } from "@stagecraft/framework/testing/contracts";

const COUNT = sessionKey<number>("count");
const routes = new Routes([
  Route.get("/", async (ctx) => {
    const session = Session.of(ctx);
    const count = ((await session.get(COUNT)) ?? 0) + 1;
    session.put(COUNT, count);
    return { count };
  }),
]);

const app = await testApp(
  Application.create()
    .routes(routes)
    .session(SessionConfig.dev(randomBytes(64))),
);
const first = await fetch(app.url);
const cookie = first.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
assert.deepEqual(await first.json(), { count: 1 });
assert.deepEqual(await (await fetch(app.url, { headers: { cookie } })).json(), { count: 2 });
await app.stop();
await obeysSessionStore(new MemorySessionStore());
console.log("works");
