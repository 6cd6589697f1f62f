/** The context of a command in a spec: a folder, and streams that keep what is written. */
import type { CommandContext } from "../../lib/cli/command.js";

export interface KeptContext extends CommandContext {
  /** What the command has written to its standard output. */
  written(): string;
}

export function commandContext(cwd: string, given: Partial<CommandContext> = {}): KeptContext {
  const texts: string[] = [];
  return {
    cwd,
    env: {},
    stdout: { write: (text) => texts.push(text) },
    stderr: { write: () => {} },
    isInteractive: false,
    signal: new AbortController().signal,
    app: undefined,
    isJson: false,
    isVerbose: false,
    ...given,
    written: () => texts.join(""),
  };
}
