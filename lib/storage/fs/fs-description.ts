/**
 * Type, visibility and metadata of a file on a disk. They are stored in a separate file beside the content, if they differ from the
 * default. Its name has the modification time of the content, which the driver makes unique, so that the descriptions of two versions are
 * never confused. Tools that keep the modification time, such as `cp -a` and `rsync -a`, keep the descriptions.
 *
 * A content without description, such as a file that was copied into the directory by hand, is private and `application/octet-stream`.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { StoredFile } from "../storage-files.js";
import { checkMediaType, checkMetadata, RESERVED_START } from "../storage-key.js";
import { withDiskErrors, orAbsent } from "./disk.js";

export type Description = Pick<StoredFile, "type" | "visibility" | "metadata">;

const DEFAULT: Description = Object.freeze({
  type: "application/octet-stream",
  visibility: "private",
  metadata: Object.freeze({}),
});
const EXTENSION = ".json";

/** The name of a temporary file. */
export function temporaryName(): string {
  return `${RESERVED_START}${randomBytes(12).toString("hex")}.tmp`;
}

/** The name of the description that a content of this name and this modification time has. */
export function descriptionName(name: string, mtimeNs: bigint): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return `${RESERVED_START}${hash}-${mtimeNs.toString(16)}${EXTENSION}`;
}

export function isDescription(name: string): boolean {
  return name.startsWith(RESERVED_START) && name.endsWith(EXTENSION);
}

/** `undefined` if there is none. */
export async function readDescription(path: string, mtimeNs: bigint): Promise<Description | undefined> {
  const text = await orAbsent(readFile(getDescriptionPath(path, mtimeNs), "utf8"));
  return text === undefined ? undefined : parseDescription(text);
}

/** Writes the description for the content that is, or will be, at `path`. */
export async function writeDescription(path: string, mtimeNs: bigint, description: Description): Promise<void> {
  const { type, visibility, metadata } = description;
  const isDefault = type === DEFAULT.type && visibility === DEFAULT.visibility && Object.keys(metadata).length === 0;
  if (isDefault) return removeDescription(path, mtimeNs);
  const temporary = join(dirname(path), temporaryName());
  try {
    await withDiskErrors(
      writeFile(temporary, JSON.stringify({ type, visibility, metadata }), { flag: "wx", flush: true }),
    );
    await withDiskErrors(rename(temporary, getDescriptionPath(path, mtimeNs)));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

export async function removeDescription(path: string, mtimeNs: bigint): Promise<void> {
  await withDiskErrors(rm(getDescriptionPath(path, mtimeNs), { force: true }));
}

export function defaultDescription(): Description {
  return DEFAULT;
}

function getDescriptionPath(path: string, mtimeNs: bigint): string {
  return join(dirname(path), descriptionName(basename(path), mtimeNs));
}

/** A description that was damaged is the default one: private, and of a type that no browser shows. */
function parseDescription(text: string): Description {
  try {
    // Each member is checked.
    const { type, visibility, metadata } = JSON.parse(text) as Description;
    checkMediaType(type);
    return { type, visibility: visibility === "public" ? "public" : "private", metadata: checkMetadata(metadata) };
  } catch {
    return DEFAULT;
  }
}
