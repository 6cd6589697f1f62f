/** Two processes of the sample on two ports that share one Redis: one quota, whatever the split, and no harm when Redis comes and goes. */
import { expect } from "chai";
import { Child } from "../support/child.js";
import { needRedis, RedisServer } from "../support/redis-server.js";
import { until } from "../support/until.js";

const SAMPLE = "../../samples/links/main.js";

async function start({ url }: RedisServer, quota: number): Promise<Child> {
  const child = await Child.start(SAMPLE, { REDIS_URL: url, REQUESTS_PER_HOUR: String(quota) });
  await child.says("listening", "errors");
  return child;
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}

/** The statuses of `count` requests, spread over the processes by `pick`, eight at a time. */
async function statusesOf(count: number, pick: (index: number) => Child): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) statuses.push(await statusOf(pick(next++).url));
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return statuses;
}

function times(status: number, statuses: readonly number[]): number {
  return statuses.filter((each) => each === status).length;
}

describe("two processes of the sample that share a quota", function () {
  this.timeout(20_000);
  this.slow(8000);
  before(function () {
    needRedis(this);
  });

  for (const [split, every] of [
    ["evenly", 2],
    ["nearly all to one", 20],
  ] as const) {
    it(`admit exactly the quota between them, split ${split}`, async () => {
      await using redis = await RedisServer.start();
      await using one = await start(redis, 100);
      await using two = await start(redis, 100);

      const statuses = await statusesOf(300, (index) => (index % every === 0 ? one : two));

      expect([times(200, statuses), times(429, statuses)]).to.deep.equal([100, 200]);
    });
  }

  it("come through a Redis that is killed and restarted under load, and say so on readiness", async () => {
    await using redis = await RedisServer.start();
    await using one = await start(redis, 1_000_000);
    await using two = await start(redis, 1_000_000);
    const both = [one, two];
    const seen = new Set<number>();
    const over = new AbortController();
    const client = async ({ url }: Child): Promise<void> => {
      while (!over.signal.aborted) seen.add(await statusOf(url));
    };
    const all = async (path: string, status: number): Promise<boolean> => {
      const statuses = await Promise.all(both.map(({ url }) => statusOf(url + path)));
      return statuses.every((each) => each === status);
    };

    const load = Promise.all([...both, ...both, ...both].map(client));
    await until(() => all("/up/ready", 200));
    await redis.kill();
    await until(() => all("/", 503));
    await until(() => all("/up/ready", 503));
    await redis.restart();
    await until(() => all("/", 200));
    await until(() => all("/up/ready", 200));
    over.abort();
    await load;

    expect(seen).to.deep.equal(new Set([200, 503]));
    for (const child of both) child.kill("SIGTERM");
    expect(await Promise.all(both.map((child) => child.exitCode()))).to.deep.equal([0, 0]);
  });

  it("do not start without their Redis, and say which subsystem is missing", async () => {
    const redis = await RedisServer.start();
    await redis.kill();
    await using child = await Child.start(SAMPLE, { REDIS_URL: redis.url, REQUESTS_PER_HOUR: "1" });

    expect(await child.exitCode()).to.equal(1);
    expect(child.errors).to.contain("cache").and.to.contain(`ECONNREFUSED 127.0.0.1:${redis.port}`);
  });
});
