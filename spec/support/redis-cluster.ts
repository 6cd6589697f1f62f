/** A Redis cluster of three primaries for one spec, created by `redis-cli --cluster create`. It needs Redis 7. Disposal kills it. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";
import { RedisServer } from "./redis-server.js";

export class RedisCluster implements AsyncDisposable {
  private constructor(
    private readonly folder: string,
    private readonly servers: readonly RedisServer[],
  ) {}

  static async start(): Promise<RedisCluster> {
    const folder = await mkdtemp(join(tmpdir(), "redis-cluster-"));
    const servers: RedisServer[] = [];
    for (const name of ["one", "two", "three"]) {
      const bus = String(await freePort());
      const file = join(folder, name);
      const settings = ["--cluster-enabled", "yes", "--cluster-config-file", file, "--cluster-port", bus];
      servers.push(await RedisServer.start(settings));
    }
    const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
    await promisify(execFile)("redis-cli", ["--cluster", "create", ...addresses, "--cluster-yes"]);
    return new RedisCluster(folder, servers);
  }

  get urls(): readonly string[] {
    return this.servers.map(({ url }) => url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    await rm(this.folder, { recursive: true });
  }
}
