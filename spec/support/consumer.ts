/**
 * A project that uses the package as pnpm installs it: a folder outside the repository, in which the packages that the framework needs are
 * out of reach of the project's own files. So the compiler refuses a declaration file that would have to name them.
 *
 * @example
 * using consumer = Consumer.create();
 * consumer.write("src/links.ts", 'import { routes } from "@stagecraft/framework"; …');
 * await consumer.compile(["src"], { declaration: true }); // the messages of the compiler
 */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { manifest, ROOT } from "./sources.js";

/** The folder in which the framework finds the packages that it needs. */
const STORE = "node_modules/.pnpm/framework/node_modules";

/** The types of these packages are part of the framework's own. */
const NEEDED = ["@koa/router", "@types"];

export type CompilerOptions = Readonly<Record<string, unknown>>;

export class Consumer implements Disposable {
  private constructor(
    readonly folder: string,
    private readonly compiler: string,
  ) {}

  /** @param compiler the program of a version of TypeScript; that of the repository unless given */
  static create(compiler = join(ROOT, "node_modules/typescript/bin/tsc")): Consumer {
    const consumer = new Consumer(mkdtempSync(join(tmpdir(), "consumer-")), compiler);
    consumer.write("package.json", '{ "type": "module" }');
    consumer.install();
    return consumer;
  }

  write(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Copies a folder of the repository. */
  copy(path: string, filter: (source: string) => boolean = () => true): void {
    cpSync(join(ROOT, path), join(this.folder, path), { recursive: true, filter });
  }

  /** Compiles the files or folders, and returns the messages of the compiler, one a line. */
  async compile(include: readonly string[], compilerOptions: CompilerOptions, exclude: readonly string[] = []) {
    const config = `tsconfig.${include[0]?.replaceAll(/\W/g, "-") ?? ""}.json`;
    this.write(config, JSON.stringify({ compilerOptions, include, exclude }));
    try {
      const args = [this.compiler, "-p", config, "--pretty", "false"];
      await promisify(execFile)(process.execPath, args, { cwd: this.folder });
      return "";
    } catch (error) {
      // The compiler writes its messages to standard output, and exits with a code.
      return (error as { readonly stdout: string }).stdout;
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private install(): void {
    const { name } = manifest();
    const own = join(this.folder, STORE, name);
    cpSync(join(ROOT, "dist/lib"), join(own, "dist/lib"), {
      recursive: true,
      filter: (file) => !/\.js(?:\.map)?$/.test(file),
    });
    cpSync(join(ROOT, "package.json"), join(own, "package.json"));
    for (const each of NEEDED)
      cpSync(join(ROOT, "node_modules", each), join(this.folder, STORE, each), { recursive: true });
    this.link(own, name);
  }

  /** Makes a package of the repository one that the project has installed itself. */
  installFromRepository(...names: readonly string[]): void {
    for (const name of names) this.link(join(ROOT, "node_modules", name), name);
  }

  private link(target: string, name: string): void {
    const path = join(this.folder, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path, "junction");
  }
}
