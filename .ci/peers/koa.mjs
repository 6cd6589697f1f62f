/**
 * An application on this version of Koa: its list has the stages, its listener serves, and it makes a context for a socket. Koa's
 * documentation calls `createContext` and `handleRequest` private.
 * Usage: node koa.mjs
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import Koa from "koa";
import { Application, Route, Routes } from "@stagecraft/framework";

const { version } = createRequire(import.meta.url)("koa/package.json");
const builder = Application.create().routes(new Routes([Route.get("/", (ctx) => `as ${ctx.get("X-Name")}`)]));
const { koa } = builder.requestId();
assert(koa instanceof Koa, "the framework has another copy of Koa");
koa.use(async (ctx, next) => {
  await next();
  ctx.set("X-Seen", String(ctx.status));
});
builder.build();
assert.deepEqual(
  koa.middleware.map(({ name }) => name),
  ["health", "requestId", "redirectMapper", "layers", "router"],
);

const server = createServer(koa.callback()).listen(0, "127.0.0.1");
await once(server, "listening");
const response = await fetch(`http://127.0.0.1:${server.address().port}/`, { headers: { "X-Name": "Ada" } });
assert.deepEqual([response.status, response.headers.get("x-seen"), await response.text()], [200, "200", "as Ada"]);
server.close();
server.closeAllConnections();

const socketRequest = Object.assign(new IncomingMessage(new Socket()), { url: "/chat?a=1" });
const ctx = koa.createContext(socketRequest);
assert.deepEqual([ctx.path, ctx.query.a, ctx.app === koa], ["/chat", "1", true]);
console.log(`Koa ${version} runs the stages`);
