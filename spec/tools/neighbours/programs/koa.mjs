/** Koa itself: what a program without a package sees. */
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

export const KOA = [
  {
    package: "koa",
    name: "koa search",
    use: "`ctx.search` and `ctx.request.search`",
    because: "`ctx.search()` reads the query; its text is `ctx.request.search`, as on Koa",
    async run(host) {
      host.handle((ctx) => {
        ctx.body = { "ctx.search": typeof ctx.search, "ctx.request.search": ctx.request.search };
      });
      await host.start();
      await host.get("/?a=1");
    },
  },
  {
    package: "koa",
    name: "koa half-close",
    use: "a client that closes its direction before the response",
    asOnKoa:
      "no response. To Node's server the client has left, and a server responds to a received close promptly (RFC 9112 section 9.5)",
    async run(host) {
      host.handle(async (ctx) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        ctx.body = "late";
      });
      await host.start();
      const socket = connect(Number(new URL(host.url).port), "127.0.0.1");
      await once(socket, "connect");
      socket.end("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      const received = await text(socket);
      if (received !== "") throw new Error(`the client received ${received}`);
    },
  },
];
