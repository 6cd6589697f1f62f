/** The open file descriptors of this process, from `/proc/self/fd`; Linux only. */
import { readdirSync, readlinkSync } from "node:fs";

export const canCountDescriptors = process.platform === "linux";

export function openDescriptors(path: string): number {
  return readdirSync("/proc/self/fd").filter((descriptor) => targetOf(descriptor) === path).length;
}

/** Resolves when `count` descriptors of the file are open. The timeout of the test is the limit. */
export async function untilOpen(path: string, count: number): Promise<void> {
  while (openDescriptors(path) !== count) await new Promise((resolve) => setImmediate(resolve));
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // The descriptor of the directory itself is closed by now.
    return "";
  }
}
