/** Two processes of the sample on two ports share one Redis: one quota for any split, also while Redis stops and starts. */
import { Agent, get, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { expect } from "chai";
import { Child } from "../support/child.js";
import { needRedis, RedisServer } from "../support/redis-server.js";
import { until } from "../support/until.js";

const SAMPLE = "../../samples/links/main.js";

async function start({ url }: RedisServer, quota: number): Promise<Child> {
  const settings = { REDIS_URL: url, REQUESTS_PER_HOUR: String(quota), TRUSTED_PROXIES: "127.0.0.1" };
  const child = await Child.start(SAMPLE, settings);
  await child.says("listening", "errors");
  return child;
}

/** A page would cost the rendering of a document. */
const LIMITED_PATH = "/about";

const agent = new Agent({ keepAlive: true });

/** `fetch` takes more of the processor than the response. */
function request(url: string, headers: OutgoingHttpHeaders = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent, headers }, (response) => {
      response
        .resume()
        .once("end", () => resolve(response))
        .once("error", reject);
    });
    asked.once("error", reject);
  });
}

async function statusOf(url: string): Promise<number> {
  return (await request(url)).statusCode ?? 0;
}

/** The statuses of `count` requests, spread over the processes by `pick`, eight at a time. */
async function statusesOf(count: number, pick: (index: number) => Child): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) statuses.push(await statusOf(pick(next++).url + LIMITED_PATH));
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return statuses;
}

function times(status: number, statuses: readonly number[]): number {
  return statuses.filter((each) => each === status).length;
}

const CLIENTS = 12;
/** The number of equal responses in a row after which the requests of the earlier state are over. */
const ENOUGH = 8 * CLIENTS;

async function all(children: readonly Child[], path: string, status: number): Promise<boolean> {
  const statuses = await Promise.all(children.map(({ url }) => statusOf(url + path)));
  return statuses.every((each) => each === status);
}

/** Clients that send the next request after each response, spread evenly over the processes, with their results. */
class Load {
  underWay = 0;
  /** Milliseconds. */
  slowest = 0;
  /** Status and type of every response. */
  readonly seen = new Set<string>();
  private readonly last: number[] = [];
  private readonly clients: Promise<unknown>;
  private isStopped = false;
  private sent = 0;

  constructor(children: readonly Child[]) {
    const each = CLIENTS / children.length;
    const clients = children.flatMap(({ url }) => Array.from({ length: each }, () => this.client(url)));
    this.clients = Promise.all(clients);
  }

  /** Resolves when all recent responses have `status`, under load. */
  settles(status: number): Promise<void> {
    this.last.length = 0;
    return until(() => {
      const others = this.last.findLastIndex((each) => each !== status);
      this.last.splice(0, others + 1);
      return this.last.length >= ENOUGH;
    });
  }

  async end(): Promise<void> {
    this.isStopped = true;
    await this.clients;
  }

  /** Each request is the first of its client, so that no quota ends. */
  private nextAddress(): string {
    const number = this.sent++;
    return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
  }

  private async client(url: string): Promise<void> {
    while (!this.isStopped) await this.ask(url);
  }

  private async ask(url: string): Promise<void> {
    const asked = performance.now();
    this.underWay++;
    const { statusCode = 0, headers } = await request(url + LIMITED_PATH, { "X-Forwarded-For": this.nextAddress() });
    this.underWay--;
    this.slowest = Math.max(this.slowest, performance.now() - asked);
    this.last.push(statusCode);
    this.seen.add(`${statusCode} ${headers["content-type"]?.split(";")[0]}`);
  }
}

describe("two processes of the sample that share a quota", function () {
  this.timeout(180_000);
  this.slow(8000);
  before(function () {
    needRedis(this);
  });

  describe("with one Redis", () => {
    let redis: RedisServer;
    let one: Child;
    let two: Child;

    before(async () => {
      redis = await RedisServer.start();
      [one, two] = await Promise.all([start(redis, 100), start(redis, 100)]);
    });
    beforeEach(() => redis.clear());
    after(async () => {
      agent.destroy();
      for (const each of [one, two, redis]) await each?.[Symbol.asyncDispose]();
    });

    for (const [split, every] of [
      ["evenly", 2],
      ["nearly all to one", 20],
    ] as const) {
      const spread = () => statusesOf(300, (index) => (index % every === 0 ? one : two));

      it(`admit exactly the quota between them, split ${split}`, async () => {
        let statuses = await spread();
        // Where a machine pauses for half a second, a check gives up, and may have taken a token.
        for (let tries = 1; tries < 5 && statuses.includes(503); tries++) {
          await redis.clear();
          statuses = await spread();
        }

        expect([times(200, statuses), times(429, statuses)]).to.deep.equal([100, 200]);
      });
    }

    // The last test of the two: it ends them.
    it("go on while Redis is halted, killed and restarted under load, and report it on readiness", async () => {
      const both = [one, two];
      const load = new Load(both);
      const underWay: number[] = [];

      await load.settles(200);
      redis.halt();
      underWay.push(load.underWay);
      await load.settles(503);
      redis.resume();
      underWay.push(load.underWay);
      await load.settles(200);
      await redis.kill();
      underWay.push(load.underWay);
      await load.settles(503);
      await until(() => all(both, "/up/ready", 503));
      await redis.restart();
      underWay.push(load.underWay);
      await load.settles(200);
      await until(() => all(both, "/up/ready", 200));
      await load.end();

      expect(Math.min(...underWay)).to.be.above(0);
      expect([...load.seen].toSorted()).to.deep.equal(["200 text/plain", "503 application/problem+json"]);
      // A check waits at most half a second, and a machine may pause. Without that limit it would wait until Redis goes on.
      expect(load.slowest).to.be.below(15_000);
      for (const child of both) child.kill("SIGTERM");
      expect(await Promise.all(both.map((child) => child.exitCode()))).to.deep.equal([0, 0]);
    });
  });

  it("do not start without their Redis, and name the missing subsystem", async () => {
    const redis = await RedisServer.start();
    await redis.kill();
    await using child = await Child.start(SAMPLE, { REDIS_URL: redis.url, REQUESTS_PER_HOUR: "1" });

    expect(await child.exitCode()).to.equal(1);
    expect(child.errors).to.contain("cache").and.to.contain(`ECONNREFUSED 127.0.0.1:${redis.port}`);
  });
});
