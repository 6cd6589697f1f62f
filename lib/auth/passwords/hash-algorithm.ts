/**
 * An algorithm of password hashes: its costs, their limits and its name in PHC texts; and scrypt, the default. The limits hold for stored texts too: a
 * row that somebody else wrote must not take the memory of the process.
 */
import { scrypt as deriveByScrypt } from "node:crypto";
import { promisify } from "node:util";

/** The costs in the order of the PHC text. */
export type HashCost = readonly [number, number, number];

export interface HashAlgorithm {
  /** How a text begins: `$scrypt$`. */
  readonly prefix: string;
  /** The names of the costs in the text. */
  readonly names: readonly [string, string, string];
  readonly minSaltBytes: number;
  /** Whether the costs are possible, and neither memory nor time is far above the default. */
  isBounded(cost: HashCost): boolean;
  derive(password: Buffer, salt: Buffer, cost: HashCost, length: number): Promise<Buffer>;
}

/** 256 MiB, twice the default of scrypt. */
export const MAX_MEMORY_BYTES = 268_435_456;
/** Four times the default of scrypt. */
const MAX_SCRYPT_WORK = 2 ** 22;
export const MAX_PARALLELISM = 16;
const SCRYPT_BLOCK_BYTES = 128;

interface ScryptOptions {
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly maxmem: number;
}

const runScrypt = promisify<Buffer, Buffer, number, ScryptOptions, Buffer>(deriveByScrypt);

/** scrypt (RFC 7914), which each Node has. The costs are the logarithm of N, r and p. */
export const SCRYPT: HashAlgorithm = {
  prefix: "$scrypt$",
  names: ["ln", "r", "p"],
  minSaltBytes: 4,

  isBounded([logN, blockSize, parallelism]) {
    if (Math.min(logN, blockSize, parallelism) < 1 || logN > 20 || parallelism > MAX_PARALLELISM) return false;
    const blocks = 2 ** logN * blockSize;
    return blocks * SCRYPT_BLOCK_BYTES <= MAX_MEMORY_BYTES && blocks * parallelism <= MAX_SCRYPT_WORK;
  },

  derive(password, salt, [logN, blockSize, parallelism], length) {
    const count = 2 ** logN;
    // Node refuses more memory than this. The last two blocks are those that the function works in.
    const maxmem = SCRYPT_BLOCK_BYTES * blockSize * (count + parallelism + 2);
    return runScrypt(password, salt, length, { N: count, r: blockSize, p: parallelism, maxmem });
  },
};
