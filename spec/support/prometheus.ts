/** A Prometheus server for one spec, on a free port; disposal removes its data. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.js";

const LIMIT_MS = 60_000;

export interface Target {
  readonly health: string;
  readonly lastError: string;
  readonly scrapePool: string;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  /** The time in seconds since the Unix epoch, and the value as text. */
  readonly value: readonly [number, string];
}

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
}

export class Prometheus implements AsyncDisposable {
  private errors = "";

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly port: number,
  ) {
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.errors += text));
  }

  /** @param target `<host>:<port>` of the application; its `/metrics` is scraped every second */
  static scraping(target: string): Promise<Prometheus> {
    return Prometheus.start({ "prometheus.yml": configFor(target) });
  }

  /** @param files by name: `prometheus.yml`, and those that it names */
  static async start(files: Readonly<Record<string, string>>): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), "prometheus-"));
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const port = await freePort();
    const flags = [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ];
    return new Prometheus(spawn("prometheus", flags, { stdio: ["ignore", "ignore", "pipe"] }), folder, port);
  }

  /** Repeats a request to its API until `holds` is true; fails with the last response. */
  async until<T>(ask: () => Promise<T>, holds: (result: T) => boolean): Promise<T> {
    const deadline = performance.now() + LIMIT_MS;
    for (;;) {
      const result = await ask().catch((error: unknown) => String(error));
      if (typeof result !== "string" && holds(result)) return result;
      if (performance.now() > deadline) throw new Error(`Prometheus says ${JSON.stringify(result)}; ${this.errors}`);
      await pause(100);
    }
  }

  /** The state of each scraped address. */
  async targets(): Promise<readonly Target[]> {
    const { activeTargets } = (await this.ask("targets")) as { readonly activeTargets: readonly Target[] };
    return activeTargets;
  }

  /** The current value of an expression. */
  async query(expression: string): Promise<readonly Sample[]> {
    const { result } = (await this.ask(`query?query=${encodeURIComponent(expression)}`)) as {
      readonly result: readonly Sample[];
    };
    return result;
  }

  /** The alerts that are not quiet. */
  async alerts(): Promise<readonly Alert[]> {
    const { alerts } = (await this.ask("alerts")) as { readonly alerts: readonly Alert[] };
    return alerts;
  }

  /** The type and the help text of each metric. */
  async metadata(): Promise<Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>> {
    return (await this.ask("metadata")) as Record<string, Record<string, string>[]>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null) {
      const exited = once(this.child, "exit");
      this.child.kill("SIGKILL");
      await exited;
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  private async ask(path: string): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${this.port}/api/v1/${path}`);
    // Every response of its API has this form.
    const { status, data } = (await response.json()) as { readonly status: string; readonly data: unknown };
    if (status !== "success") throw new Error(`${path}: ${status}`);
    return data;
  }
}

function configFor(target: string): string {
  return `global:
  scrape_interval: 1s
scrape_configs:
  - job_name: sample
    static_configs:
      - targets: ["${target}"]
`;
}
