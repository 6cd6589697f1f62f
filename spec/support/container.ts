/**
 * A program in the files of an image, as a container runs it: the first process of its PID namespace, in a file system that it can only
 * read, as a user without privileges. The network is that of this machine. It needs root and mounts: ask `canMount` of small-disk.ts before
 * a test is declared.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import type { Image } from "./image.js";
import { type Child, ended, type Ended } from "./program.js";
import { ROOT } from "./sources.js";
import { signalProcess } from "./stop-process.js";
import { until } from "./until.js";

/** The user `node` of the images of Node. */
export const USER_OF_NODE = 1000;

const USERS: Readonly<Record<string, number>> = { root: 0, node: USER_OF_NODE };

export interface ContainerOptions {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folders that are in memory. */
  readonly tmpfs?: readonly string[];
  /** Files of this machine, by their place in the container. */
  readonly files?: Readonly<Record<string, string>>;
  /** Folders of the image that can be written. */
  readonly volumes?: readonly string[];
}

/** The system of this machine, with Node in `/opt/node`. */
const SYSTEM = `
set -e
mount -t tmpfs -o mode=755 tmpfs "$root"
for each in bin lib lib64 usr etc dev; do
  if [ -L /$each ]; then cp -P /$each "$root/$each"
  elif [ -d /$each ]; then mkdir "$root/$each"; mount --rbind /$each "$root/$each"; fi
done
mkdir "$root/proc"
mount -t proc proc "$root/proc"`;

export class Container implements AsyncDisposable {
  private readonly root = mkdtempSync(join(tmpdir(), "framework-container-"));
  private readonly child: Child;
  private readonly closed: Promise<Pick<Ended, "code" | "signal">>;
  private readonly streams: Promise<readonly [string, string]>;
  output = "";

  constructor(image: Image, options: ContainerOptions) {
    const script = [`root='${this.root}'`, SYSTEM, ...mounts(image, options), start(image, options)].join("\n");
    this.child = spawn("unshare", ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.closed = ended(this.child);
    this.streams = Promise.all([text(this.child.stdout), text(this.child.stderr)]);
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.on("data", (part: Buffer) => (this.output += part.toString()));
  }

  /** Resolves when it responds with 200. */
  async serves(url: string): Promise<void> {
    await until(async () => {
      if (this.child.exitCode !== null) throw new Error(`the container has ended: ${this.output}`);
      return await fetch(url).then(
        ({ status }) => status === 200,
        () => false,
      );
    });
  }

  /** Sends the signal to the first process, as `docker stop` does. */
  kill(signal: NodeJS.Signals): void {
    const [first] = readFileSync(`/proc/${this.child.pid}/task/${this.child.pid}/children`, "utf8").split(" ");
    signalProcess(Number(first), signal);
  }

  async end(): Promise<Ended> {
    const [[stdout, stderr], how] = await Promise.all([this.streams, this.closed]);
    return { ...how, stdout, stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.closed;
    rmSync(this.root, { recursive: true });
  }
}

/** The mounts are in the namespace of the container and end with it. */
function mounts({ root }: Image, { tmpfs = [], files = {}, volumes = [] }: ContainerOptions): readonly string[] {
  const folders = readdirSync(root).map((name) => `/${name}`);
  const installed = [
    [ROOT, ROOT],
    [dirname(process.execPath), "/opt/node"],
  ] as const;
  return [
    // Before the repository, which may be below one of them.
    ...tmpfs.map((place) => `mkdir -p "$root${place}"; mount -t tmpfs -o mode=1777 tmpfs "$root${place}"`),
    ...installed.map(([source, place]) => bind(source, place, "ro")),
    ...folders.map((place) => bind(join(root, place), place, volumes.includes(place) ? "rw" : "ro")),
    ...Object.entries(files).map(([place, source]) => bind(source, place, "ro")),
    `mount -o remount,ro "$root"`,
  ];
}

function bind(source: string, place: string, mode: "ro" | "rw"): string {
  const target = `"$root${place}"`;
  const creates = statSync(source).isDirectory()
    ? `mkdir -p ${target}`
    : `mkdir -p "$root${dirname(place)}"; touch ${target}`;
  return `${creates}; mount --bind -o ${mode} '${source}' ${target}`;
}

function start({ config }: Image, { command, env = {} }: ContainerOptions): string {
  const user = USERS[config.user];
  if (user === undefined) throw new Error(`the spec does not know the user ${config.user}`);
  const variables = Object.entries({ PATH: "/opt/node:/usr/bin:/bin", ...config.env, ...env });
  const words = [...variables.map(([name, value]) => `${name}=${value}`), ...command].map((word) => quoted(word));
  return `exec chroot --userspec=${user}:${user} --groups= "$root" env -i --chdir=${config.workdir} ${words.join(" ")}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
