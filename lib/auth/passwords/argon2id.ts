/**
 * argon2id (RFC 9106) for password hashes: by Node from 24.7 on, else by the optional package `@node-rs/argon2`. The costs are the memory
 * in KiB, the passes and the parallelism.
 */
import * as crypto from "node:crypto";
import { promisify } from "node:util";
import { expectPeer, requirePeer } from "../../errors/optional-package.js";
import { type HashAlgorithm, MAX_MEMORY_BYTES, MAX_PARALLELISM } from "./hash-algorithm.js";

const PEER = {
  entry: "Passwords of @stagecraft/framework/auth with argon2id",
  name: "@node-rs/argon2",
  from: "2.0.0",
  before: "3.0.0",
  install: "@node-rs/argon2@2",
};

/** 16 passes over 64 MiB. */
const MAX_WORK_KIB = 2 ** 20;
const MAX_MEMORY_KIB = MAX_MEMORY_BYTES / 1024;

interface NodeParameters {
  readonly message: Buffer;
  readonly nonce: Buffer;
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly tagLength: number;
}

type NodeArgon2 = (
  name: "argon2id",
  parameters: NodeParameters,
  callback: (error: Error | null, hash: Buffer) => void,
) => void;

/** The part of the package that is used. Its types are not imported, so that a program compiles without the package. */
interface Argon2Package {
  hashRaw(
    password: Buffer,
    options: {
      readonly algorithm: typeof ARGON2ID_OF_PACKAGE;
      readonly salt: Buffer;
      readonly memoryCost: number;
      readonly timeCost: number;
      readonly parallelism: number;
      readonly outputLen: number;
    },
  ): Promise<Buffer>;
}

/** `Algorithm.Argon2id` of the package. */
const ARGON2ID_OF_PACKAGE = 2;

/** @throws FrameworkError `E_PEER_MISSING` or `E_PEER_VERSION` where neither Node nor the package has argon2id */
export function expectArgon2id(): void {
  if (findNodeArgon2() !== undefined) return;
  expectPeer(PEER);
  requirePeer(PEER);
}

export const ARGON2ID: HashAlgorithm = {
  prefix: "$argon2id$v=19$",
  names: ["m", "t", "p"],
  minSaltBytes: 8,

  isBounded([memory, passes, parallelism]) {
    if (Math.min(passes, parallelism) < 1 || parallelism > MAX_PARALLELISM) return false;
    // RFC 9106 section 3.1 gives the least memory.
    return memory >= 8 * parallelism && memory <= MAX_MEMORY_KIB && memory * passes <= MAX_WORK_KIB;
  },

  async derive(message, nonce, [memory, passes, parallelism], tagLength) {
    const argon2 = findNodeArgon2();
    if (argon2 !== undefined)
      return promisify(argon2)("argon2id", { message, nonce, memory, passes, parallelism, tagLength });
    const engine = requirePeer(PEER) as Argon2Package; // Of the versions in the range.
    const costs = { memoryCost: memory, timeCost: passes, parallelism, outputLen: tagLength };
    return engine.hashRaw(message, { algorithm: ARGON2ID_OF_PACKAGE, salt: nonce, ...costs });
  },
};

/** The types of the oldest Node lack it. */
function findNodeArgon2(): NodeArgon2 | undefined {
  const argon2: unknown = Reflect.get(crypto, "argon2");
  return typeof argon2 === "function" ? (argon2 as NodeArgon2) : undefined;
}
