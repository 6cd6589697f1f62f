/**
 * Does what a Dockerfile says, in folders and without Docker: each stage is a folder with the files of its COPY lines. The commands of its
 * RUN lines are functions of the spec, since a spec has no registry of packages. An instruction or a command that is not known is an error.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, posix } from "node:path";

/** What `docker inspect` shows of an image. */
export interface ImageConfig {
  readonly from: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly port: number;
  readonly command: readonly string[];
}

/** @param folder the WORKDIR on this machine. @param root the folder of the stage */
export type RunCommand = (folder: string, root: string) => void | Promise<void>;

export interface BuildOptions {
  /** The folder that the build reads. */
  readonly context: string;
  /** By the command, which a RUN line may join with `&&`. */
  readonly commands: Readonly<Record<string, RunCommand>>;
}

interface Stage {
  readonly root: string;
  config: ImageConfig;
}

const EMPTY: ImageConfig = { from: "", workdir: "/", env: {}, user: "root", port: 0, command: [] };

export class Image implements Disposable {
  private readonly parent = realpathSync(mkdtempSync(join(tmpdir(), "framework-image-")));
  private readonly stages = new Map<string, Stage>();
  private last: Stage | undefined = undefined;

  private constructor(private readonly options: BuildOptions) {}

  static async build(dockerfile: string, options: BuildOptions): Promise<Image> {
    const image = new Image(options);
    try {
      for (const line of dockerfile.replaceAll("\\\n", " ").split("\n"))
        if (!/^\s*(?:#|$)/.test(line)) await image.follow(line);
      return image;
    } catch (error) {
      image[Symbol.dispose]();
      throw error;
    }
  }

  /** The folder with the files of the last stage. */
  get root(): string {
    return this.stage.root;
  }

  get config(): ImageConfig {
    return this.stage.config;
  }

  [Symbol.dispose](): void {
    rmSync(this.parent, { recursive: true, force: true });
  }

  private get stage(): Stage {
    if (this.last === undefined) throw new Error("the Dockerfile must begin with FROM");
    return this.last;
  }

  private async follow(line: string): Promise<void> {
    const [, instruction = "", rest = ""] = /^([A-Z]+) +(.+)$/.exec(line) ?? [];
    if (instruction === "FROM") this.open(rest);
    else if (instruction === "COPY") this.copy(rest.split(/ +/));
    else if (instruction === "RUN") for (const each of rest.split(" && ")) await this.run(each);
    else this.stage.config = { ...this.stage.config, ...configured(instruction, rest, this.stage.config) };
    mkdirSync(this.place(this.stage, this.stage.config.workdir), { recursive: true });
  }

  private open(rest: string): void {
    const [from = "", as, name = String(this.stages.size)] = rest.split(/ +/);
    if (as !== undefined && as !== "AS") throw new Error(`FROM ${rest}`);
    this.last = { root: join(this.parent, name), config: { ...EMPTY, from } };
    mkdirSync(this.last.root);
    this.stages.set(name, this.last);
  }

  /** A folder is copied without its name; a file into a folder, or to a name. */
  private copy(words: readonly string[]): void {
    const [, from] = /^--from=(.+)$/.exec(words[0] ?? "") ?? [];
    const paths = from === undefined ? words : words.slice(1);
    const target = this.place(this.stage, paths.at(-1) ?? "");
    for (const path of paths.slice(0, -1)) {
      const source = from === undefined ? join(this.options.context, path) : this.place(this.find(from), path);
      if (!existsSync(source)) throw new Error(`COPY: there is no ${path}`);
      const isInto = paths.at(-1)?.endsWith("/") === true && !statSync(source).isDirectory();
      cpSync(source, isInto ? join(target, basename(path)) : target, { recursive: true, verbatimSymlinks: true });
    }
  }

  private async run(command: string): Promise<void> {
    const run = this.options.commands[command.trim()];
    if (run === undefined) throw new Error(`RUN: the spec does not know ${command}`);
    await run(this.place(this.stage, this.stage.config.workdir), this.stage.root);
  }

  private find(name: string): Stage {
    const found = this.stages.get(name);
    if (found === undefined) throw new Error(`there is no stage ${name}`);
    return found;
  }

  private place({ root, config }: Stage, path: string): string {
    return join(root, posix.resolve(config.workdir, path));
  }
}

function configured(instruction: string, rest: string, { env }: ImageConfig): Partial<ImageConfig> {
  if (instruction === "WORKDIR") return { workdir: rest };
  if (instruction === "USER") return { user: rest };
  if (instruction === "EXPOSE") return { port: Number(rest) };
  if (instruction === "ENV") return { env: { ...env, ...Object.fromEntries(rest.split(" ").map(toPair)) } };
  // The exec form is JSON. The shell form would put a shell before the program.
  if (instruction === "CMD") return { command: JSON.parse(rest) as readonly string[] };
  throw new Error(`the spec does not know ${instruction} ${rest}`);
}

function toPair(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
}
