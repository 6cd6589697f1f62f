/**
 * Where `run()` listens: a TCP port, or, when a dev supervisor asks for it in a debug build, a socket or pipe of the supervisor's.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { profile } from "../runtime/profile.js";
import { tracing } from "../tracing/tracing.js";
import type { Assembly } from "./build.js";
import { cannotListen, type Place } from "../server/listener.js";
import { resolvePort } from "./port.js";

const log = tracing.target("framework::lifecycle");

/** The supervisor's end; only debug builds listen there. */
export function ipcPath(): string | undefined {
  const path = process.env["FRAMEWORK_APP_IPC"];
  if (path === undefined || path.trim() === "") return undefined;
  if (profile === "debug") return path;
  log.warn("FRAMEWORK_APP_IPC is ignored in a release build");
  return undefined;
}

export function placeOf({ host, port, config }: Assembly): Place {
  const path = ipcPath();
  if (path !== undefined) return { path };
  return { host, port: resolvePort(process.env, { asked: port, configured: config.port }) };
}

/** Makes the directory and removes what an earlier process left. */
export async function preparePath(place: Place): Promise<void> {
  if (!("path" in place) || isPipe(place.path)) return;
  try {
    await mkdir(dirname(place.path), { recursive: true });
    await rm(place.path, { force: true });
  } catch (cause) {
    // What `fs` rejects with.
    throw cannotListen(place, cause as NodeJS.ErrnoException);
  }
}

export async function removePath(place: Place): Promise<void> {
  if ("path" in place && !isPipe(place.path)) await rm(place.path, { force: true });
}

/** Windows has named pipes in a place of their own, which is no file system. */
function isPipe(path: string): boolean {
  return path.startsWith("\\\\");
}
