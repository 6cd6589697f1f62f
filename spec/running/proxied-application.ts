/** The application that the specs start behind a proxy, as a release. */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Application, type Context, provide, Reply, Route, Routes, Subsystem } from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";

const LIMIT = 1_000_000;

const asked = new EventTarget();

/** The second event follows a request for it, which a client sends when it has the first one. */
async function* events() {
  yield { data: "first" };
  await once(asked, "next");
  yield { data: "second" };
}

const routes = new Routes([
  Route.get("/client", (ctx) => ({ ip: ctx.ip, protocol: ctx.protocol, host: ctx.host })),
  Route.get("/process", () => String(process.pid)),
  Route.get("/events", () => Reply.events(events())),
  Route.post("/events/next", () => void asked.dispatchEvent(new Event("next"))),
  Route.post("/bytes", async (ctx: Context) => String((await ctx.text()).length)),
]);

/** The process responds with 503 while it starts. */
class SlowStart extends Subsystem {
  readonly kind = "maintenance";

  start() {
    return pause(1000);
  }

  stop() {}
}

installLogging("info");
await Application.create()
  .routes(routes)
  .provide(provide(SlowStart).useValue(new SlowStart()))
  .trustedProxies("127.0.0.1")
  .requestId()
  .accessLog()
  .errorMapping()
  .bodyLimit(LIMIT)
  .attach((server, draining) => {
    server.on("upgrade", (_request, socket) => {
      socket.on("error", () => {});
      draining.addEventListener("abort", () => socket.destroy());
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n");
      socket.pipe(socket);
    });
  })
  .build()
  .run();
