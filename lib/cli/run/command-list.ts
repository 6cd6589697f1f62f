/**
 * The commands of the application as the last command found them that loaded it: a file in `node_modules/.cache` beside package.json. Help
 * and completion read it, so that they load no application. It may be old or absent; a command runs by what the application has.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findUpwards } from "../application/find-upwards.js";
import type { DescribedCommand } from "../command.js";

const FILE = "node_modules/.cache/stagecraft/commands.json";

const MAX_BYTES = 1_000_000;

const NAME = /^[a-z][a-z\d:-]{1,99}$/;
const MEMBER = /^[a-z][\w-]*$/i;
const KINDS: readonly unknown[] = ["flag", "text", "texts"];

/** Whether a member of a schema can be an option. */
export function isMemberName(member: string): boolean {
  return MEMBER.test(member);
}

/** Empty where there is no list, or the file has something else. */
export function readCommandList(cwd: string): readonly DescribedCommand[] {
  const root = findUpwards("package.json", cwd);
  if (root === undefined) return [];
  try {
    const file = join(root, FILE);
    if (statSync(file).size > MAX_BYTES) return [];
    const listed: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(listed) ? listed.filter(isDescribed) : [];
  } catch {
    return [];
  }
}

/** A folder that cannot be written has no list. @param root the folder of package.json */
export function storeCommandList(root: string, commands: readonly DescribedCommand[]): void {
  const file = join(root, FILE);
  const next = `${file}.${process.pid}`;
  try {
    if (commands.length === 0) return rmSync(file, { force: true });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(next, JSON.stringify(commands.map(withOptions)));
    renameSync(next, file);
  } catch {
    rmSync(next, { force: true });
  }
}

function withOptions({ name, summary, parameters }: DescribedCommand): DescribedCommand {
  const options = Object.entries(parameters).filter(([member]) => isMemberName(member));
  return { name, summary, parameters: Object.fromEntries(options) };
}

function isDescribed(value: unknown): value is DescribedCommand {
  const { name, summary, parameters } = Object(value);
  if (typeof name !== "string" || !NAME.test(name) || typeof summary !== "string") return false;
  return Object.entries(Object(parameters)).every(([member, parameter]) => {
    const { kind, placeholder, summary: text } = Object(parameter);
    return isMemberName(member) && KINDS.includes(kind) && typeof placeholder === "string" && typeof text === "string";
  });
}
