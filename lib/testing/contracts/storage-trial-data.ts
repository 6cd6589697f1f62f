/** The contents and the wrong keys with which `obeysStorage` tries a storage. Not for tests of an application. */
import { Readable } from "node:stream";

/** Bytes that differ at each place, so that a shifted or repeated part shows. */
export function createPattern(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) % 4_294_967_296, at);
  return bytes;
}

/** The bytes in parts of this size. */
export async function* splitBytes(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A source that fails after its first chunk. */
export async function* createFailingSource(): AsyncIterable<string> {
  yield "the first half";
  throw Object.assign(new Error("the source failed"), { code: "SOURCE_FAILED" });
}

/** A source that gives one chunk and does not end. */
export function createEndlessSource(): Readable {
  let isGiven = false;
  return new Readable({
    read() {
      if (!isGiven) this.push("the first half");
      isGiven = true;
    },
  });
}

/** Keys that no storage accepts. */
export const WRONG_KEYS: readonly string[] = [
  "",
  "/absolute",
  "a//b",
  "a/",
  ".",
  "..",
  "../up",
  "a/../b",
  "a/./b",
  "a/..",
  "back\\slash",
  "nul\0",
  "line\nbreak",
  "delete\u007f",
  "control\u0085",
  "e\u0301",
  "\u212b",
  "half \ud800",
  "x".repeat(256),
  `${"y/".repeat(512)}z`,
  ".~own",
  "a/.~own",
];
