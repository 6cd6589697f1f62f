/**
 * The files beside the sources that an application reads while it starts: `.env` and package.json, catalogs of messages and templates. One
 * counts as changed when its content differs, so that an application that writes such a file at its start does not start for ever.
 *
 * @example
 * const files = new StartFiles("/shop");
 * if (files.hasChanged("/shop/locales/en/messages.ftl")) restart();
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const SETTINGS = [".env", "package.json"];
const READ_ONCE = /\.(?:ftl|html|hbs|mustache|ejs|eta|liquid|njk|pug|mjml)$/u;

/** A larger file counts as changed with its time. */
const MAX_READ = 1_048_576;

export class StartFiles {
  private readonly settings: readonly string[];
  private readonly contents = new Map<string, string>();

  /** @param root the folder of package.json */
  constructor(root: string) {
    this.settings = SETTINGS.map((name) => join(root, name));
    for (const path of this.settings) this.contents.set(path, findContent(path));
  }

  has(path: string): boolean {
    return this.settings.includes(path) || READ_ONCE.test(path);
  }

  /** Whether such a file has another content than at the last call. Each file is new at first, but the settings. */
  hasChanged(path: string): boolean {
    if (!this.has(path)) return false;
    const content = findContent(path);
    const isChanged = this.contents.get(path) !== content;
    this.contents.set(path, content);
    return isChanged;
  }
}

function findContent(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path);
    return size > MAX_READ ? `${size} ${mtimeMs}` : createHash("sha256").update(readFileSync(path)).digest("base64");
  } catch {
    return "none";
  }
}
