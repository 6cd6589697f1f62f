/** How often this process has a file open, by the kernel's own list; Linux only. */
import { readdirSync, readlinkSync } from "node:fs";

export const canCountDescriptors = process.platform === "linux";

export function openDescriptors(path: string): number {
  return readdirSync("/proc/self/fd").filter((descriptor) => targetOf(descriptor) === path).length;
}

/** Resolves when the file is open as often as that; the test's own timeout ends a wait in vain. */
export async function untilOpen(path: string, count: number): Promise<void> {
  while (openDescriptors(path) !== count) await new Promise((resolve) => setImmediate(resolve));
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // The one through which the list itself was read.
    return "";
  }
}
