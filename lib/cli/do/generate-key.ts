/** `key:generate`: a key for sessions, links and encryption. It is printed, and stored nowhere. */
import { randomBytes } from "node:crypto";
import type { CommandContext } from "../command.js";

const KEY_BYTES = 64;

export async function generateKey(_values: unknown, { stdout }: CommandContext): Promise<void> {
  stdout.write(`${randomBytes(KEY_BYTES).toString("hex")}\n`);
}
