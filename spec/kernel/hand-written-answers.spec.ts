import { Readable } from "node:stream";
import { expect } from "chai";
import { Compression } from "../../lib/edge/compression.js";
import type { Context } from "../../lib/kernel/context.js";
import type { Next } from "../../lib/kernel/middleware.js";
import { StaticSite } from "../support/static-site.js";
import { canCountDescriptors, openDescriptors, untilOpen } from "../support/open-descriptors.js";
import { Stack } from "../support/stack.js";
import { until } from "../support/until.js";

type Act = (ctx: Context) => unknown;

const ACTS: readonly (readonly [string, Act])[] = [
  ["ends the response", ({ res }) => void res.end("by hand")],
  ["writes a head and ends the response", ({ res }) => void res.writeHead(200).end("by hand")],
  [
    "takes the answer over, as in Koa, and ends it later",
    (ctx) => {
      ctx.respond = false;
      setImmediate(() => ctx.res.end("by hand"));
    },
  ],
  [
    "begins to answer and fails",
    ({ res }) => {
      res.write("by hand");
      throw new TypeError("in the middle");
    },
  ],
];

/** A layer of the application that answers by hand over what came from further in. */
function over(act: Act): { handle(ctx: Context, next: Next): Promise<void> } {
  return {
    async handle(ctx, next) {
      await next();
      await act(ctx);
    },
  };
}

describe("an answer written by hand over another", () => {
  for (const [title, act] of ACTS) {
    for (const [around, layers] of [
      ["", []],
      [", under compression", [new Compression()]],
    ] as const) {
      it(`lets go of the stream that is not sent: a layer ${title}${around}`, async () => {
        const stream = new Readable({ read() {} });
        stream.push("x".repeat(10_000));
        await using stack = await Stack.of([...layers, over(act)], () => stream);

        await stack.ask("/", { headers: { "accept-encoding": "gzip" } }).catch(() => {});

        await until(() => stream.destroyed);
      });
    }

    it(`frees the descriptor of the file that is not sent: a layer ${title}`, async function () {
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

  it("lets go of a web stream", async () => {
    let isCancelled = false;
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) });
    await using stack = await Stack.of([over(({ res }) => void res.end("by hand"))], () => body);

    await stack.ask();

    await until(() => isCancelled);
  });

  it("may be made of that stream", async () => {
    const later = over(async (ctx) => {
      ctx.respond = false;
      await new Promise((resolve) => setImmediate(resolve));
      // The stream that the handler below has answered with.
      (ctx.body as Readable).pipe(ctx.res);
    });
    await using stack = await Stack.of([later], () => Readable.from(["first, ", "second"]));

    expect((await stack.ask()).text).to.equal("first, second");
  });
});
