import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { expect } from "chai";
import { CompressionLayer } from "../../../lib/stages/compression.js";
import type { Context } from "../../../lib/http/request/context.js";
import type { HeadCompleter } from "../../../lib/http/response/response-head.js";
import type { Next } from "../../../lib/http/middleware.js";
import { StaticSite } from "../../support/static-site.js";
import { canCountDescriptors, openDescriptors, untilOpen } from "../../support/open-descriptors.js";
import { Stack } from "../../support/stack.js";
import { until } from "../../support/until.js";
import { TracingRecorder } from "../../support/tracing-recorder.js";

type Act = (ctx: Context) => unknown;

const ACTS: readonly (readonly [string, Act])[] = [
  ["ends the response", ({ res }) => void res.end("by hand")],
  ["writes a head and ends the response", ({ res }) => void res.writeHead(200).end("by hand")],
  [
    "takes the response over, as in Koa, and ends it later",
    (ctx) => {
      ctx.respond = false;
      setImmediate(() => ctx.res.end("by hand"));
    },
  ],
  [
    "starts to respond and fails",
    ({ res }) => {
      res.write("by hand");
      throw new TypeError("in the middle");
    },
  ],
];

/** A layer of the application that responds by hand, although the rest has responded already. */
function over(act: Act): { handle(ctx: Context, next: Next): Promise<void> } {
  return {
    async handle(ctx, next) {
      await next();
      await act(ctx);
    },
  };
}

describe("a head written by hand", () => {
  for (const [what, act] of [
    ["as an object", (res) => res.writeHead(201, { "X-A": "own", "X-B": ["1", "2"] })],
    ["after a reason phrase", (res) => res.writeHead(201, "Made", { "X-A": "own", "X-B": ["1", "2"] })],
    ["as a list", (res) => res.writeHead(201, ["X-A", "own", "X-B", "1", "X-B", "2"])],
  ] as const satisfies readonly (readonly [string, (res: ServerResponse) => ServerResponse])[]) {
    it(`has headers given ${what}, which the stages see when they add theirs`, async () => {
      const floor: HeadCompleter = {
        complete: (_exchange, head) => {
          head.set("X-Seen", `${head.get("X-A")} ${head.get("x-b")}`);
          head.addMissing(["X-A", "of a stage", "X-C", "of a stage"]);
        },
      };
      const stage = {
        handle(ctx: Context, next: Next) {
          ctx.completeHeadWith(floor);
          return next();
        },
      };
      await using stack = await Stack.of([stage], ({ res }) => void act(res).end("by hand"));

      const response = await stack.ask();

      expect(response.status).to.equal(201);
      expect(response.headers).to.include({ "x-a": "own", "x-b": "1, 2", "x-c": "of a stage", "x-seen": "own 1,2" });
    });
  }
});

const TOO_MUCH: readonly (readonly [string, Act])[] = [
  ["ends twice", ({ res }) => (res.end("by hand"), void res.end("again"))],
  ["writes after the end", ({ res }) => (res.end("by hand"), res.write("more"), void res.write("and more"))],
  [
    "ends twice through Koa's response",
    ({ response }) => (response.res.end("by hand"), void response.res.end("again")),
  ],
];

describe("a response written by hand", () => {
  for (const [what, act] of TOO_MUCH) {
    it(`is reported once, and the server goes on, if a handler ${what}`, async () => {
      const witness = new TracingRecorder();
      await using stack = await witness.run(() => Stack.of([], (ctx) => (ctx.path === "/" ? act(ctx) : "still here")));

      const response = await stack.ask();
      await until(() => witness.events.length > 0);

      expect(response.text).to.equal("by hand");
      expect((await stack.ask("/next")).text).to.equal("still here");
      expect(witness.events.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
        "ERROR response failed",
      ]);
    });
  }

  it("is cut if Node reports a failure in the middle of the response", async () => {
    await using stack = await Stack.of(
      [],
      ({ res }) => (res.write("be"), res.emit("error", new Error("broken")), undefined),
    );

    const received = await stack.raw("GET / HTTP/1.1\r\nHost: a\r\n\r\n").catch(String);

    expect(received).not.to.contain("0\r\n\r\n");
  });

  it("makes its request fail if Node reports a failure before the head is sent", async () => {
    const witness = new TracingRecorder();
    await using stack = await witness.run(() =>
      Stack.of([], ({ res }) => (res.emit("error", new Error("broken")), "a text")),
    );

    expect((await stack.ask()).status).to.equal(500);
    expect(witness.events.map(({ message }) => message)).to.deep.equal(["panic"]);
  });
});

describe("a response written by hand that replaces another", () => {
  for (const [title, act] of ACTS) {
    for (const [around, layers] of [
      ["", []],
      [", under compression", [new CompressionLayer()]],
    ] as const) {
      it(`destroys the stream that is not sent: a layer ${title}${around}`, async () => {
        const stream = new Readable({ read() {} });
        stream.push("x".repeat(10_000));
        await using stack = await Stack.of([...layers, over(act)], () => stream);

        await stack.ask("/", { headers: { "accept-encoding": "gzip" } }).catch(() => {});

        await until(() => stream.destroyed);
      });
    }

    it(`closes the file that is not sent: a layer ${title}`, async function () {
      if (!canCountDescriptors) this.skip();
      using site = new StaticSite();
      const path = site.put("large.bin", Buffer.alloc(1_000_000));
      let seen = 0;
      const counting: Act = (ctx) => {
        seen = openDescriptors(path);
        return act(ctx);
      };
      await using stack = await site.serve({}, [over(counting)]);

      await stack.ask("/large.bin").catch(() => {});

      expect(seen).to.equal(1);
      await untilOpen(path, 0);
    });
  }

  it("cancels a web stream that is not sent", async () => {
    let isCancelled = false;
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) });
    await using stack = await Stack.of([over(({ res }) => void res.end("by hand"))], () => body);

    await stack.ask();

    await until(() => isCancelled);
  });

  it("may be a stream that reads from the replaced one", async () => {
    const later = over(async (ctx) => {
      ctx.respond = false;
      await new Promise((resolve) => setImmediate(resolve));
      // The stream that the inner handler has returned.
      (ctx.body as Readable).pipe(ctx.res);
    });
    await using stack = await Stack.of([later], () => Readable.from(["first, ", "second"]));

    expect((await stack.ask()).text).to.equal("first, second");
  });
});
