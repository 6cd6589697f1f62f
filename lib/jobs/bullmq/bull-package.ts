/**
 * Loads the packages of this room. The first `new BullJobs` loads them, not the import, because BullMQ adds names to the global object and
 * searches for a native package.
 */
import { expectPeer, requirePeer } from "../../errors/optional-package.js";

const ENTRY = "@stagecraft/framework/jobs/bullmq";
const BULLMQ = { entry: ENTRY, name: "bullmq", from: "5.50.0", install: "bullmq@6" };
const IOREDIS = { entry: ENTRY, name: "ioredis", from: "5.4.1", install: "ioredis@6" };

/** @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function loadBullmq(): typeof import("bullmq") {
  expectPeer(BULLMQ);
  // The declarations of the package give its type.
  return requirePeer(BULLMQ) as typeof import("bullmq");
}

/** @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function loadIoredis(): typeof import("ioredis") {
  expectPeer(IOREDIS);
  return requirePeer(IOREDIS) as typeof import("ioredis");
}
