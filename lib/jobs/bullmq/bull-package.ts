/**
 * The packages of this room. They are loaded by the first `new BullJobs`, not by the import: BullMQ adds names to the global object, and
 * looks for a native package.
 */
import { expectPeer, requirePeer } from "../../errors/optional-package.js";

const ENTRY = "@stagecraft/framework/jobs/bullmq";
const BULLMQ = { entry: ENTRY, name: "bullmq", from: "5.50.0", install: "bullmq@6" };
const IOREDIS = { entry: ENTRY, name: "ioredis", from: "5.4.1", install: "ioredis@6" };

/** @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function loadBullmq(): typeof import("bullmq") {
  expectPeer(BULLMQ);
  // The types of a package are those of its own declarations.
  return requirePeer(BULLMQ) as typeof import("bullmq");
}

/** @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function loadIoredis(): typeof import("ioredis") {
  expectPeer(IOREDIS);
  return requirePeer(IOREDIS) as typeof import("ioredis");
}
