/** Compile-only: methods that fit their command, and methods that do not. */
import { Command, type CommandContext } from "@stagecraft/framework";
import { z } from "zod";

const Values = z.object({ month: z.string(), copies: z.coerce.number() });

export class Reports {
  @Command("reports:send", Values)
  async send({ month, copies }: { month: string; copies: number }, { stdout, signal }: CommandContext): Promise<void> {
    stdout.write(`${month} ${copies} ${String(signal.aborted)}`);
  }

  @Command("reports:list", Values)
  list({ month }: { month: string }): void {
    void month;
  }

  @Command("reports:warm")
  warm(): void {}

  @Command("reports:print")
  print(_values: object, { stderr }: CommandContext): void {
    stderr.write("");
  }

  // @ts-expect-error the method asks for a member that the schema does not have
  @Command("reports:other", Values)
  other(_values: { year: string }): void {}

  // @ts-expect-error the method asks for the input of the schema, and gets its output
  @Command("reports:input", Values)
  input(_values: { copies: string }): void {}

  // @ts-expect-error a command without a schema has no values
  @Command("reports:none")
  none(_values: { month: string | undefined; year: string }): void {}

  // @ts-expect-error the number would not be the exit code
  @Command("reports:code", Values)
  code(): number {
    return 1;
  }

  // @ts-expect-error a command has two parameters
  @Command("reports:third", Values)
  third(_values: object, _context: CommandContext, _third: string): void {}
}
