import { linkSync, mkdirSync, openSync, symlinkSync, truncateSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect } from "chai";
import { TimeoutLayer } from "../../../lib/stages/timeout.js";
import type { Context } from "../../../lib/http/request/context.js";
import type { Next } from "../../../lib/http/middleware.js";
import { FileStream } from "../../../lib/stages/static-files/fs.js";
import { FakeClock } from "../../../lib/testing/fake-clock.js";
import { Conversation } from "../../support/conversation.js";
import { canCountDescriptors, openDescriptors, untilOpen } from "../../support/open-descriptors.js";
import { until } from "../../support/until.js";
import { muchLater, StaticSite } from "../../support/static-site.js";

const MIB = 1_048_576;

/** A layer that records the bodies that are sent. */
class Bodies {
  readonly seen: unknown[] = [];

  async handle(ctx: Context, next: Next): Promise<void> {
    await next();
    this.seen.push(ctx.payload);
  }
}

describe("StaticFiles and their bounds", () => {
  let site: StaticSite;
  StaticSite.forEachTest((fresh) => (site = fresh));

  describe("memory", () => {
    it("contains only a part of a large file for a slow client", async () => {
      truncateSync(site.put("large.bin", ""), 256 * MIB);
      const bodies = new Bodies();
      await using stack = await site.serve({}, [bodies]);
      await using client = await Conversation.with(stack.port);
      client.socket.pause();

      client.say("GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n");
      await until(() => bodies.seen.length === 1);
      await client.quiet(200);

      const [body] = bodies.seen;
      expect(body).to.be.instanceOf(Readable);
      expect((body as Readable).readableLength).to.be.lessThanOrEqual(MIB / 4);
    });

    it("caches 32 MiB of files, and streams the others", async () => {
      const bodies = new Bodies();
      await using stack = await site.serve({}, [bodies], muchLater());

      for (let number = 0; number < 34; number++) {
        truncateSync(site.put(`${number}.bin`, ""), MIB);
        await stack.ask(`/${number}.bin`);
      }

      const whole = bodies.seen.map((body) => Buffer.isBuffer(body));
      expect(whole.slice(0, 32)).to.not.include(false);
      expect(whole.slice(32)).to.deep.equal([false, false]);
    });

    it("contains the states of 4096 files, and drops the bytes of the oldest one", async () => {
      const bodies = new Bodies();
      await using stack = await site.serve({}, [bodies], muchLater());
      const askWhole = async (name: string): Promise<boolean> => {
        truncateSync(site.put(name, ""), MIB);
        await stack.ask(`/${name}`);
        return Buffer.isBuffer(bodies.seen.at(-1));
      };
      const first = site.put("0.txt", "one of many");
      for (let number = 1; number < 4096; number++) linkSync(first, join(site.root, `${number}.txt`));
      for (let number = 0; number < 32; number++) expect(await askWhole(`${number}.bin`)).to.equal(true);

      const heads = Array.from({ length: 4095 - 32 }, (_each, at) => `HEAD /${at}.txt HTTP/1.1\r\nHost: a\r\n`);
      await stack.raw(`${heads.join("\r\n")}Connection: close\r\n\r\n`);
      const wholes = [await askWhole("the-4096th.bin"), await askWhole("one-more.bin")];

      expect(wholes).to.deep.equal([false, true]);
    });
  });

  describe("the real path of a file", () => {
    it("is resolved again after a second, even if the file did not change", async () => {
      const clock = muchLater();
      const inside = site.put("inside/a.txt", "the same file");
      mkdirSync(join(site.folder, "outside"));
      linkSync(inside, join(site.folder, "outside/a.txt"));
      const link = join(site.root, "link");
      symlinkSync("inside", link);
      await using stack = await site.serve({}, [], clock);
      const before = await stack.ask("/link/a.txt");

      unlinkSync(link);
      symlinkSync("../outside", link);
      clock.advance(1000);
      const after = await stack.ask("/link/a.txt");

      expect([before.status, after.status]).to.deep.equal([200, 404]);
    });
  });

  describe("descriptors", () => {
    beforeEach(function () {
      if (!canCountDescriptors) this.skip();
    });

    it("are not closed while a read runs", async () => {
      const path = site.put("a.bin", Buffer.alloc(MIB));
      const stream = new FileStream(openSync(path, "r"), { first: 0, length: MIB });

      stream.read(0);
      stream.destroy();
      // This thread is blocked, so it gets no events, while the threads of the pool continue.
      const waiting = performance.now() + 50;
      while (performance.now() < waiting);
      const whileReading = openDescriptors(path);

      expect(whileReading).to.equal(1);
      await untilOpen(path, 0);
    });

    it("are closed when the timeout responds while the file is opened", async () => {
      const path = site.put("a.bin", Buffer.alloc(MIB));
      const clock = new FakeClock();
      await using stack = await site.serve({}, [new TimeoutLayer(5000)], clock);

      const statuses = new Set<number>();
      for (let time = 0; time < 30; time++) {
        const asking = stack.ask("/a.bin");
        await untilOpen(path, 1);
        clock.advance(5000);
        statuses.add((await asking).status);
        await untilOpen(path, 0);
      }

      expect(statuses).to.include(408);
    });
  });
});
