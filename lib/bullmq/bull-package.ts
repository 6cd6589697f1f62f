/** The packages of this room, checked when the entry point is imported. */
import { expectPeer, requirePeer } from "../errors/optional-package.js";

const ENTRY = "@stagecraft/framework/jobs/bullmq";
const BULLMQ = { entry: ENTRY, name: "bullmq", from: "5.50.0", install: "bullmq@6" };
const IOREDIS = { entry: ENTRY, name: "ioredis", from: "5.4.1", install: "ioredis@6" };

expectPeer(BULLMQ);
expectPeer(IOREDIS);

// The types of a package are those of its own declarations.
export const bullmq = requirePeer(BULLMQ) as typeof import("bullmq");
export const ioredis = requirePeer(IOREDIS) as typeof import("ioredis");
