/** The messages of the compiler, and the settings of programs that it only checks. */
import type { CompilerOptions } from "./consumer.js";

/** Both kinds of decorators, by the value of `experimentalDecorators`. */
export const DECORATOR_KINDS = { legacy: true, standard: false } as const;

export const CHECKED: CompilerOptions = {
  strict: true,
  target: "ES2022",
  module: "NodeNext",
  types: ["node"],
  noEmit: true,
  skipLibCheck: true,
};

/** Returns each message with its lines: those after the first are indented. */
export function splitMessages(output: string): readonly string[] {
  return output.trimEnd().split(/\n(?=\S)/);
}

export function getLastLine(message: string): string {
  return message.trimEnd().split("\n").at(-1) ?? "";
}
