/**
 * `stagecraft config`: every environment variable that the framework and the application read while it loads and is built: where its value
 * comes from, and the value unless it may be a secret. Not for variables that are read later, by a handler.
 */
import type { CommandContext } from "../command.js";
import { loadApplication } from "../application/load-application.js";
import { toSourcePlace } from "../application/source-place.js";
import { formatTable } from "../text-table.js";
import { writeJson } from "./given-file.js";
import { recordReads, type RecordedVariable } from "./variable-reads.js";
import { resolvePort } from "../../app/config.js";

interface ShownVariable {
  readonly name: string;
  readonly isSet: boolean;
  /** Of a variable that is not set: its default, or nothing. */
  readonly source: "environment" | ".env" | "default" | "none";
  /** Left out of a variable that is not set, and of a secret. */
  readonly value?: string;
  readonly readBy: string;
}

export async function config(_values: unknown, context: CommandContext): Promise<void> {
  let root = context.cwd;
  let fromFile: ReadonlySet<string> = new Set();
  const reads = await recordReads(async () => {
    const { application, ...loaded } = await loadApplication(context);
    ({ root } = loaded.file);
    ({ fromFile } = loaded);
    resolvePort(process.env, { configured: application.config().port });
  });
  const variables = reads.map((read) => describe(read, { env: process.env, fromFile, root }));
  if (context.isJson) writeJson(context, variables);
  else context.stdout.write(formatTable(["VARIABLE", "SOURCE", "VALUE", "READ BY"], variables.map(toRow)));
}

interface Sources {
  readonly env: NodeJS.ProcessEnv;
  readonly fromFile: ReadonlySet<string>;
  readonly root: string;
}

function describe(
  { name, by, isSecret, hasDefault }: RecordedVariable,
  { env, fromFile, root }: Sources,
): ShownVariable {
  const text = env[name] ?? "";
  const readBy = /:\d+:\d+$/.test(by) ? toSourcePlace(by, root) : by;
  // The framework reads a blank variable as one that is not set.
  if (text.trim() === "") return { name, isSet: false, source: hasDefault ? "default" : "none", readBy };
  const value = isSecret || mayBeSecret(name, text) ? {} : { value: text };
  return { name, isSet: true, source: fromFile.has(name) ? ".env" : "environment", ...value, readBy };
}

/** By its name, and by the part of a URL that holds a password. Only a value that is no secret beyond doubt is shown. */
function mayBeSecret(name: string, text: string): boolean {
  return (
    /KEY|SECRET|TOKEN|PASS|PWD|CREDENTIAL|AUTH|SALT|PRIVATE|CERT|DSN/i.test(name) ||
    /@|[?&;]|-----/.test(text) ||
    text.length > 100
  );
}

function toRow({ name, isSet, source, value, readBy }: ShownVariable): readonly string[] {
  return [name, source, value ?? (isSet ? "(set, not shown)" : ""), readBy];
}
