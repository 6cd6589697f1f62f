/**
 * The address on which `run()` listens: a TCP port, or the socket, pipe or port of the loopback that a development supervisor names in
 * `FRAMEWORK_APP_IPC`. Only debug builds read that variable.
 */
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { profile } from "../runtime/profile.js";
import { createListenError, type ListenAddress } from "../server/listener.js";
import { tracing } from "../tracing/tracing.js";
import type { ApplicationParts } from "./build.js";
import { resolvePort } from "./config.js";

const log = tracing.target("framework::lifecycle");

/** The value of the variable; `undefined` where no supervisor runs the process. */
export function findSupervisorAddress(): string | undefined {
  const path = process.env["FRAMEWORK_APP_IPC"];
  if (path === undefined || path.trim() === "") return undefined;
  if (profile === "debug") return path;
  log.warn("FRAMEWORK_APP_IPC is ignored in a release build");
  return undefined;
}

export function resolveListenAddress({ host, port, config }: ApplicationParts): ListenAddress {
  const address = findSupervisorAddress();
  const loopback = /^127\.0\.0\.1:(\d{1,5})$/.exec(address ?? "");
  if (loopback !== null) return { host: "127.0.0.1", port: Number(loopback[1]) };
  if (address !== undefined) return { path: address };
  return { host, port: resolvePort(process.env, { asked: port, configured: config.port }) };
}

/** Creates the directory of a socket and removes a socket that an earlier process left there. */
export async function prepareSocket(address: ListenAddress): Promise<void> {
  if (!("path" in address) || isPipe(address.path)) return;
  try {
    await mkdir(dirname(address.path), { recursive: true });
    await rm(address.path, { force: true });
  } catch (cause) {
    // `fs` rejects only with errors of this type.
    throw createListenError(address, cause as NodeJS.ErrnoException);
  }
}

export async function removeSocket(address: ListenAddress): Promise<void> {
  if ("path" in address && !isPipe(address.path)) await rm(address.path, { force: true });
}

/** Named pipes of Windows are not in the file system. */
function isPipe(path: string): boolean {
  return path.startsWith("\\\\");
}
