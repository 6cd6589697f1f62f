/**
 * The `Mailer` that writes each mail as a file into a folder and sends none: for development without a mail server. Mail programs open the
 * files. A file appears as a whole. Above `maxFiles` the oldest file is deleted.
 *
 * Not for production: no recipient gets these mails.
 *
 * @example
 * provide(Mailer).useFactory(() => new FileMailer({ folder: "tmp/mail", from: "shop@example.org" }));
 */
import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { FrameworkError } from "../errors/framework-error.js";
import { createSetupError } from "../errors/setup-error.js";
import { MailUnavailableError } from "./mail-error.js";
import type { MailMessage } from "./mail-message.js";
import { toAcceptedResult, type MailResult } from "./mail-result.js";
import { checkMailOption, Mailer, type MailerOptions } from "./mailer.js";

export interface FileMailerOptions extends MailerOptions {
  /** The mailer creates it if it is missing, readable only by the user of the process. Files that end in `.eml` belong to the mailer. */
  readonly folder: string;
  /** The maximum number of files; 1000 unless set. */
  readonly maxFiles?: number;
}

const DEFAULT_MAX_FILES = 1000;
const MAIL_FILE = /^\d{8}T\d{9}Z-[\w-]+\.eml$/;

export class FileMailer extends Mailer {
  readonly folder: string;
  private readonly maxFiles: number;

  /** @throws as `Mailer`; FrameworkError `E_MAIL_OPTION` for `maxFiles` and for an empty folder */
  constructor(options: FileMailerOptions) {
    super(options);
    this.folder = options.folder;
    this.maxFiles = checkMailOption("maxFiles", options.maxFiles ?? DEFAULT_MAX_FILES, Number.MAX_SAFE_INTEGER);
    if (typeof this.folder !== "string" || this.folder === "") throw invalidFolder();
  }

  override async start(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
  }

  override stop(): void {}

  override async probe(): Promise<void> {
    await readdir(this.folder);
  }

  protected override async deliver(message: MailMessage): Promise<MailResult> {
    const { messageId, recipients, bytes, date } = message;
    const id = messageId.slice(1, messageId.indexOf("@"));
    // A further attempt with the same mail has the same name, and replaces the file.
    const name = `${date.toISOString().replaceAll(/[-:.]/g, "")}-${id}.eml`;
    try {
      await this.write(name, bytes);
      await this.deleteOldest();
    } catch (error) {
      throw new MailUnavailableError(`the mail was not written to ${this.folder}: ${getCode(error)}`);
    }
    return toAcceptedResult(messageId, recipients);
  }

  private async write(name: string, bytes: Uint8Array): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const temporary = join(this.folder, `.${name}.${randomBytes(6).toString("hex")}`);
    try {
      // `wx` follows no link that someone else has put there.
      await using file = await open(temporary, "wx", 0o600);
      await file.writeFile(bytes);
      await rename(temporary, join(this.folder, name));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  private async deleteOldest(): Promise<void> {
    const files = (await readdir(this.folder)).filter((name) => MAIL_FILE.test(name)).toSorted();
    // Another process may delete the same file.
    for (const name of files.slice(0, -this.maxFiles)) await rm(join(this.folder, name), { force: true });
  }
}

function getCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

function invalidFolder(): FrameworkError {
  return createSetupError("E_MAIL_OPTION", "folder of a file mailer is a path");
}
