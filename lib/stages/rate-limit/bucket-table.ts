/**
 * The numbers of buckets by the hashes of their keys: a hash table with open addressing and linear probing. It uses typed arrays, so a
 * million entries are no work for the garbage collector. The caller numbers the entries without gaps.
 *
 * A key is stored as a hash of 64 bits: HalfSipHash-1-3 over its UTF-16 code units, with a random secret per instance. Without knowing the
 * secret, a client cannot invent keys with the same hash. Two of a million keys have the same hash in one of thirty million processes.
 *
 * Not for data that outlives the process: the hashes are different after a restart.
 */
import { randomBytes } from "node:crypto";

type Hash = Readonly<Pick<KeyHash, "high" | "low">>;

/** The result of `find` for a key that is not in the table. */
export const NO_ENTRY = -1;

const MIN_SLOTS = 2048;
/** A slot has three numbers: both halves of the hash, and the entry plus one (0 in a free slot). */
const WIDTH = 3;
const [LOW, HIGH, ENTRY] = [0, 1, 2];

export class BucketTable {
  private slots = new Int32Array(MIN_SLOTS * WIDTH);
  /** The slot of each entry. */
  private slotByEntry = new Int32Array(MIN_SLOTS / 2);
  private mask = MIN_SLOTS - 1;
  private count = 0;

  get size(): number {
    return this.count;
  }

  find({ low, high }: Hash): number {
    const { slots, mask } = this;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const at = slot * WIDTH;
      const mark = slots[at + ENTRY] ?? 0;
      if (mark === 0) return NO_ENTRY;
      if (slots[at + LOW] === low && slots[at + HIGH] === high) return mark - 1;
    }
  }

  /** @param entry equal to `size`, or the number of the entry that was removed last; the hash must not be in the table */
  add({ low, high }: Hash, entry: number): void {
    if (2 * this.count > this.mask) this.resize(2 * (this.mask + 1));
    this.count++;
    this.insert(low, high, entry);
  }

  remove(entry: number): void {
    this.freeSlot(this.slotByEntry[entry] ?? 0);
    this.count--;
  }

  /** Gives the entry `from` the number `to`, which belonged to a removed entry. */
  renumber(from: number, to: number): void {
    const slot = this.slotByEntry[from] ?? 0;
    this.slots[slot * WIDTH + ENTRY] = to + 1;
    this.slotByEntry[to] = slot;
    const length = this.mask + 1;
    if (length > MIN_SLOTS && this.count < length / 16) this.resize(length / 2);
  }

  private insert(low: number, high: number, entry: number): void {
    const { slots, mask } = this;
    let slot = low & mask;
    while (slots[slot * WIDTH + ENTRY] !== 0) slot = (slot + 1) & mask;
    this.fill(slot, low, high, entry);
  }

  private fill(slot: number, low: number, high: number, entry: number): void {
    const at = slot * WIDTH;
    this.slots[at + LOW] = low;
    this.slots[at + HIGH] = high;
    this.slots[at + ENTRY] = entry + 1;
    this.slotByEntry[entry] = slot;
  }

  /** Frees a slot and moves later entries into the gap, because a search ends at the first free slot. */
  private freeSlot(freed: number): void {
    const { slots, mask } = this;
    let gap = freed;
    for (let slot = (gap + 1) & mask; ; slot = (slot + 1) & mask) {
      const at = slot * WIDTH;
      const mark = slots[at + ENTRY] ?? 0;
      if (mark === 0) break;
      const low = slots[at + LOW] ?? 0;
      const mayMove = ((slot - low) & mask) >= ((slot - gap) & mask);
      if (!mayMove) continue;
      this.fill(gap, low, slots[at + HIGH] ?? 0, mark - 1);
      gap = slot;
    }
    slots[gap * WIDTH + ENTRY] = 0;
  }

  private resize(length: number): void {
    const { slots } = this;
    this.slots = new Int32Array(length * WIDTH);
    this.slotByEntry = new Int32Array(length / 2);
    this.mask = length - 1;
    for (let at = 0; at < slots.length; at += WIDTH) {
      const mark = slots[at + ENTRY] ?? 0;
      if (mark !== 0) this.insert(slots[at + LOW] ?? 0, slots[at + HIGH] ?? 0, mark - 1);
    }
  }
}

/** The rounds after the text, for each half of the result. */
const FINAL_ROUNDS = 3;

/** The hash of a key. One instance serves all keys and contains the last result, so that hashing does not allocate. */
export class KeyHash {
  high = 0;
  low = 0;
  private readonly first: number;
  private readonly second: number;

  /** @param secret 8 bytes */
  constructor(secret: Buffer = randomBytes(8)) {
    this.first = secret.readInt32LE(0);
    this.second = secret.readInt32LE(4);
  }

  /** Writes the hash of `text` into `high` and `low`. */
  compute(text: string): this {
    let v0 = this.first;
    let v1 = this.second ^ 0xee;
    let v2 = this.first ^ 0x6c796765;
    let v3 = this.second ^ 0x74656462;
    const words = (text.length >> 1) + 1;
    for (let round = 0; round < words + 2 * FINAL_ROUNDS; round++) {
      const word = round < words ? getWord(text, round) : 0;
      if (round === words) v2 ^= 0xee;
      if (round === words + FINAL_ROUNDS) {
        this.low = v1 ^ v3;
        v1 ^= 0xdd;
      }
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = rotateLeft(v1, 5) ^ v0;
      v0 = rotateLeft(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = rotateLeft(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = rotateLeft(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = rotateLeft(v1, 13) ^ v2;
      v2 = rotateLeft(v2, 16);
      v0 ^= word;
    }
    this.high = v1 ^ v3;
    return this;
  }
}

/** Two code units. The last word contains the remaining code unit, if there is one, and the length of the text. */
function getWord(text: string, round: number): number {
  const at = 2 * round;
  if (at + 1 < text.length) return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
  const last = at < text.length ? text.charCodeAt(at) : 0;
  return last | (text.length << 25);
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
