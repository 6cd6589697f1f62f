/**
 * The commands of the application as the last command found them that loaded it: a file in `node_modules/.cache` beside package.json. Help
 * and completion read it, so that they load no application. It may be old or absent; a command runs by what the application has.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findUpwards } from "../application/find-upwards.js";
import { toOption, type DescribedCommand } from "../command.js";
import { escapeControls } from "../text-table.js";

const FILE = "node_modules/.cache/stagecraft/commands.json";

const MAX_BYTES = 1_000_000;

const NAME = /^(?=.{3,100}$)[a-z][a-z\d-]*(?::[a-z][a-z\d-]*)+$/;
const MEMBER = /^[a-z][\w-]*$/i;
const PLACEHOLDER = /^[\w.|-]*$/;
const KINDS: readonly unknown[] = ["flag", "text", "texts"];

/** The options that every command has. */
export const GLOBAL_OPTIONS = ["--app", "--verbose", "--help"];

/** Whether a member of a schema can be an option: a person can write it, and no command and no earlier member has it. */
export function canBeOption(member: string, members: readonly string[]): boolean {
  const option = toOption(member);
  const isFirst = members.find((each) => toOption(each) === option) === member;
  return isFirst && MEMBER.test(member) && !GLOBAL_OPTIONS.includes(option);
}

/** Empty where there is no list, or the file has something else. */
export function readCommandList(cwd: string): readonly DescribedCommand[] {
  const root = findUpwards("package.json", cwd);
  if (root === undefined) return [];
  try {
    const file = join(root, FILE);
    const found = statSync(file);
    if (!found.isFile() || found.size > MAX_BYTES) return [];
    const listed: unknown = JSON.parse(readFileSync(file, "utf8"));
    const commands = Array.isArray(listed) ? listed.filter(isDescribed) : [];
    // The parser would refuse a second command of a name, and so every command.
    return [...new Map(commands.map((each) => [each.name, each])).values()];
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
    writeFileSync(next, JSON.stringify(commands));
    renameSync(next, file);
  } catch {
    rmSync(next, { force: true });
  }
}

function isDescribed(value: unknown): value is DescribedCommand {
  const { name, summary, parameters } = Object(value);
  if (typeof name !== "string" || !NAME.test(name) || !isLine(summary)) return false;
  const members = Object.keys(Object(parameters));
  return Object.entries(Object(parameters)).every(([member, parameter]) => {
    const { kind, placeholder, summary: text } = Object(parameter);
    const isPlaceholder = typeof placeholder === "string" && PLACEHOLDER.test(placeholder);
    return canBeOption(member, members) && KINDS.includes(kind) && isPlaceholder && isLine(text);
  });
}

/** A text that a terminal shows as it is. */
function isLine(text: unknown): boolean {
  return typeof text === "string" && escapeControls(text) === text;
}
