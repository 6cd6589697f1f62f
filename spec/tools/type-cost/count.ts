/** Counts the instantiations of types that the compiler needs for a program. The count is the same on every machine. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Consumer } from "../../support/consumer.js";
import { ROOT } from "../../support/sources.js";
import { createFixture, type Piece } from "./fixture.js";

/** The two kinds of decorators. */
export const STYLES = { legacy: true, standard: false } as const;

export type Style = keyof typeof STYLES;

const OPTIONS = [
  "--strict",
  "--target",
  "ES2022",
  "--module",
  "NodeNext",
  "--types",
  "node",
  "--noEmit",
  "--skipLibCheck",
];

/** A project that has the declaration files of the package, and no source. */
export class TypeCounter implements Disposable {
  private readonly consumer = Consumer.create();

  constructor() {
    this.consumer.installFromRepository("@types/node", "zod");
  }

  /** @throws Error with the messages of the compiler, for a program that does not compile */
  async count(last: Piece, endpoints: number, style: Style): Promise<number> {
    const file = `${last}-${endpoints}-${style}.ts`;
    this.consumer.write(file, createFixture(last, endpoints));
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    // Several checkers would count a type once each.
    const counting = ["--ignoreConfig", "--extendedDiagnostics", "--singleThreaded"];
    const args = [...OPTIONS, ...counting, "--experimentalDecorators", String(STYLES[style]), file];
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, ...args], {
      cwd: this.consumer.folder,
    }).catch((error: unknown) => error as { readonly stdout: string });
    const counted = /^Instantiations:\s+(\d+)$/m.exec(stdout)?.[1];
    if (counted === undefined || /error TS/.test(stdout)) throw new Error(`${file} does not compile:\n${stdout}`);
    return Number(counted);
  }

  [Symbol.dispose](): void {
    this.consumer[Symbol.dispose]();
  }
}
