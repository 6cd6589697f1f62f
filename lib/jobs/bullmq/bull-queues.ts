/** The queues of one `BullJobs`. Their names are a set in Redis, where other processes find new queues. */
import type { Queue } from "bullmq";
import type { Clock } from "../../runtime/clock.js";
import type { BullConnection } from "./bull-connection.js";
import { loadBullmq } from "./bull-package.js";
import type { BullData } from "./bull-record.js";

const NAME_REFRESH_MS = 1000;

export interface BullQueuesOptions {
  readonly prefix: string;
  readonly clock: Clock;
  /** Called when this process first uses a queue. */
  readonly onNewQueue: () => void;
}

export class BullQueues {
  private readonly bullmq = loadBullmq();
  private readonly queues = new Map<string, Queue<BullData>>();
  /** The time at which this process last wrote the name of each queue to the set of names. */
  private readonly namedAt = new Map<string, number>();

  constructor(
    private readonly connection: BullConnection,
    private readonly options: BullQueuesOptions,
  ) {}

  async get(name: string): Promise<Queue<BullData>> {
    const { prefix, clock, onNewQueue } = this.options;
    let queue = this.queues.get(name);
    const now = clock.monotonic();
    const named = this.namedAt.get(name);
    if (queue !== undefined && named !== undefined && now - named <= NAME_REFRESH_MS) return queue;
    const redis = await this.connection.waitForClient();
    if (queue === undefined) {
      queue = new this.bullmq.Queue<BullData>(name, { connection: redis, prefix });
      // The connection reports its errors. Without a listener BullMQ writes them to the console.
      queue.on("error", () => {});
      this.queues.set(name, queue);
    }
    // The name is written again from time to time, because a Redis that lost its data has lost the names too.
    await redis.sadd(this.namesKey, name);
    this.namedAt.set(name, now);
    if (named === undefined) onNewQueue();
    return queue;
  }

  async all(): Promise<readonly Queue<BullData>[]> {
    return Promise.all((await this.names()).map((name) => this.get(name)));
  }

  /** The names of the queues that have jobs, or had some. */
  names(): Promise<readonly string[]> {
    return this.connection.run((redis) => redis.smembers(this.namesKey));
  }

  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
    this.queues.clear();
  }

  private get namesKey(): string {
    return `${this.options.prefix}:jobs:queues`;
  }
}
