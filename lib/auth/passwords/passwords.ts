/**
 * Hashes of passwords. `hash` gives the text to store, `verify` compares a password with it, and `needsRehash` says at a sign-in that the
 * stored text has old costs. One instance serves an application: it bounds how many hashes run at once.
 *
 * Not for tokens and keys, which are random: a digest of them is enough, and takes no time.
 *
 * @example
 * providers: [provide(Passwords).useFactory(() => new Passwords())]
 *
 * const isRight = await passwords.verify(form.password, user?.password);
 * if (isRight && passwords.needsRehash(user.password)) await users.setPassword(user.id, await passwords.hash(form.password));
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { availableParallelism } from "node:os";
import { BadRequestError } from "../../errors/framework-error.js";
import { checkOptionNames } from "../../errors/option-names.js";
import { createSetupError } from "../../errors/setup-error.js";
import { valueText } from "../../errors/value-text.js";
import { checkWholeNumber } from "../../errors/whole-number.js";
import { currentWorkScope } from "../../lifecycle/work-scope.js";
import { ARGON2ID, expectArgon2id } from "./argon2id.js";
import { type HashAlgorithm, type HashCost, SCRYPT } from "./hash-algorithm.js";
import { HashQueue } from "./hash-queue.js";
import { MAX_PASSWORD_BYTES, toPasswordBytes } from "./password-bytes.js";
import { formatPasswordHash, parsePasswordHash, type PasswordHash } from "./password-hash.js";

/** By default 17, 8 and 1, which take 128 MiB (OWASP Password Storage Cheat Sheet). */
export interface ScryptCost {
  /** The logarithm of N to the base 2. */
  readonly logN: number;
  readonly blockSize: number;
  readonly parallelism: number;
}

/** By default 19,456, 2 and 1 (OWASP Password Storage Cheat Sheet). */
export interface Argon2idCost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly parallelism: number;
}

export interface PasswordsOptions {
  /** By which `hash` works, by default scrypt; `verify` reads both. argon2id needs Node 24.7 or the package `@node-rs/argon2`. */
  readonly algorithm?: "scrypt" | "argon2id";
  readonly scrypt?: ScryptCost;
  readonly argon2id?: Argon2idCost;
  /**
   * How many hashes run at once. The default is half of the processors and at most 2, which leaves the others to the responses, and half of
   * the four threads of Node's pool (`UV_THREADPOOL_SIZE`) to files and addresses.
   */
  readonly concurrency?: number;
  /** How many hashes wait for their turn, by default 100. The next one is a 503. */
  readonly queue?: number;
}

export interface PasswordOptions {
  /** Leaves the queue when it aborts, by default with the request or the job that is running. A hash that runs is not stopped. */
  readonly signal?: AbortSignal;
}

const OPTIONS = "E_PASSWORD_OPTION";
const ALGORITHMS = [SCRYPT, ARGON2ID];
const NAMES = { algorithm: true, scrypt: true, argon2id: true, concurrency: true, queue: true } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

export class Passwords {
  private readonly algorithm: HashAlgorithm;
  private readonly cost: HashCost;
  private readonly queue: HashQueue;
  /** No password has this hash. */
  private readonly nothing: PasswordHash;

  /**
   * @throws FrameworkError `E_PASSWORD_OPTION` for costs beyond the limits and other numbers; `E_OPTION`; `E_PEER_MISSING` where neither Node
   * nor a package has argon2id
   */
  constructor(options: PasswordsOptions = {}) {
    checkOptionNames<PasswordsOptions>(options, NAMES, "new Passwords");
    ({ algorithm: this.algorithm, cost: this.cost } = readAlgorithm(options));
    this.queue = new HashQueue(
      checkWholeNumber(OPTIONS, "concurrency", options.concurrency ?? getConcurrency(), [1, 128]),
      checkWholeNumber(OPTIONS, "queue", options.queue ?? 100, [0]),
    );
    this.nothing = this.createHash(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
  }

  /**
   * The text to store, in the PHC string format, of about 100 characters.
   *
   * @throws BadRequestError `E_PASSWORD`, without the password, if it is empty, has more than 1,024 bytes in the form NFKC, has NUL, or half
   * of a surrogate pair
   * @throws UnavailableError `E_PASSWORD_QUEUE`, with `Retry-After`, if too many hashes wait
   */
  async hash(password: string, options?: PasswordOptions): Promise<string> {
    const bytes = toPasswordBytes(password);
    if (bytes === undefined)
      throw new BadRequestError(`A password is a text of 1 to ${MAX_PASSWORD_BYTES} bytes.`, { code: "E_PASSWORD" });
    const salt = randomBytes(SALT_BYTES);
    const hash = await this.derive(bytes, { ...this.nothing, salt }, options);
    return formatPasswordHash(this.createHash(salt, hash));
  }

  /**
   * Whether the password is that of the stored text. False for a text that is no hash or has costs beyond the limits, and for `undefined`:
   * pass the hash of a user who does not exist as it is, because the work is that of a real one. Only a password that `hash` refuses is
   * false at once, whatever the text is.
   *
   * @throws UnavailableError `E_PASSWORD_QUEUE`, with `Retry-After`, if too many hashes wait
   */
  async verify(password: string, stored: string | null | undefined, options?: PasswordOptions): Promise<boolean> {
    const bytes = toPasswordBytes(password);
    if (bytes === undefined) return false;
    const expected = parsePasswordHash(stored, ALGORITHMS) ?? this.nothing;
    const hash = await this.derive(bytes, expected, options);
    return timingSafeEqual(hash, expected.hash) && expected !== this.nothing;
  }

  /** Whether `hash` would write another algorithm or other costs than the stored text has. True for a text that is no hash. */
  needsRehash(stored: string): boolean {
    const parsed = parsePasswordHash(stored, ALGORITHMS);
    if (parsed === undefined || parsed.algorithm !== this.algorithm) return true;
    const isSameCost = parsed.cost.every((value, index) => value === this.cost[index]);
    return !isSameCost || parsed.salt.length < SALT_BYTES || parsed.hash.length !== HASH_BYTES;
  }

  private createHash(salt: Buffer, hash: Buffer): PasswordHash {
    return { algorithm: this.algorithm, cost: this.cost, salt, hash };
  }

  private derive(password: Buffer, like: PasswordHash, options: PasswordOptions | undefined): Promise<Buffer> {
    const { algorithm, salt, cost, hash } = like;
    const signal = options?.signal ?? currentWorkScope()?.signal;
    return this.queue.run(() => algorithm.derive(password, salt, cost, hash.length), signal);
  }
}

function getConcurrency(): number {
  return Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
}

function readAlgorithm({ algorithm = "scrypt", scrypt, argon2id }: PasswordsOptions): {
  readonly algorithm: HashAlgorithm;
  readonly cost: HashCost;
} {
  if (algorithm === "scrypt") {
    const { logN, blockSize, parallelism } = scrypt ?? { logN: 17, blockSize: 8, parallelism: 1 };
    return checkCost(algorithm, SCRYPT, [logN, blockSize, parallelism]);
  }
  if (algorithm !== "argon2id")
    throw createSetupError(OPTIONS, `new Passwords: the algorithm is scrypt or argon2id, not ${valueText(algorithm)}`);
  expectArgon2id();
  const { memoryKib, passes, parallelism } = argon2id ?? { memoryKib: 19_456, passes: 2, parallelism: 1 };
  return checkCost(algorithm, ARGON2ID, [memoryKib, passes, parallelism]);
}

function checkCost(name: string, algorithm: HashAlgorithm, cost: HashCost) {
  if (cost.every(Number.isSafeInteger) && algorithm.isBounded(cost)) return { algorithm, cost };
  const limits = "whole numbers from 1 that take at most 256 MiB and four times the work of the default of scrypt";
  throw createSetupError(OPTIONS, `new Passwords: the costs of ${name} are ${limits}`);
}
