/**
 * Numbered entries ordered by expiry: a priority queue as a heap over typed arrays, so that a million entries are no work for the garbage
 * collector. Finding the earliest entry costs O(1); adding, postponing and removing cost O(log n).
 *
 * Entries are numbered without gaps: when one is removed, the last one takes its number.
 */

/** Children of a node: a heap with four is flatter than one with two, and siblings that are compared lie next to each other. */
const FAN_OUT = 4;
const MIN_LENGTH = 1024;

export class ExpiryQueue {
  /** The expiries in heap order. */
  private expiries = new Float64Array(MIN_LENGTH);
  /** The entries in heap order. */
  private order = new Int32Array(MIN_LENGTH);
  /** The position of each entry in the heap order. */
  private positions = new Int32Array(MIN_LENGTH);
  private count = 0;

  get size(): number {
    return this.count;
  }

  getExpiry(entry: number): number {
    return this.expiries[this.positions[entry] ?? 0] ?? 0;
  }

  /** The entry with the earliest expiry; without meaning if the queue is empty. */
  get earliest(): number {
    return this.order[0] ?? 0;
  }

  /** @returns the new entry's number */
  add(expiry: number): number {
    const entry = this.count++;
    if (entry === this.expiries.length) this.resize(entry * 2);
    this.siftUp(entry, expiry, entry);
    return entry;
  }

  /** Sets a later expiry for `entry`. */
  postpone(entry: number, expiry: number): void {
    this.siftDown(entry, expiry, this.positions[entry] ?? 0);
  }

  /** Sets a new expiry for the earliest entry: any value. */
  replaceEarliest(expiry: number): void {
    this.siftDown(this.earliest, expiry, 0);
  }

  /** Removes the earliest entry. The entry with the highest number, which is now `size`, takes its number. */
  removeEarliest(): void {
    const removed = this.earliest;
    const last = --this.count;
    if (last > 0) this.siftDown(this.order[last] ?? 0, this.expiries[last] ?? 0, 0);
    if (removed !== last) this.renumber(last, removed);
    if (last >= MIN_LENGTH && last < this.expiries.length / 4) this.resize(this.expiries.length / 2);
  }

  private renumber(from: number, to: number): void {
    const position = this.positions[from] ?? 0;
    this.positions[to] = position;
    this.order[position] = to;
  }

  private siftUp(entry: number, expiry: number, start: number): void {
    const { expiries, order } = this;
    let position = start;
    while (position > 0) {
      const parent = (position - 1) >> 2;
      const parentExpiry = expiries[parent] ?? 0;
      if (parentExpiry <= expiry) break;
      this.put(order[parent] ?? 0, parentExpiry, position);
      position = parent;
    }
    this.put(entry, expiry, position);
  }

  private siftDown(entry: number, expiry: number, start: number): void {
    const { expiries, order, count } = this;
    let position = start;
    for (let first = position * FAN_OUT + 1; first < count; first = position * FAN_OUT + 1) {
      const end = Math.min(first + FAN_OUT, count);
      let earliestChild = first;
      let earliestExpiry = expiries[first] ?? 0;
      for (let child = first + 1; child < end; child++) {
        const other = expiries[child] ?? 0;
        if (other < earliestExpiry) {
          earliestChild = child;
          earliestExpiry = other;
        }
      }
      if (expiry <= earliestExpiry) break;
      this.put(order[earliestChild] ?? 0, earliestExpiry, position);
      position = earliestChild;
    }
    this.put(entry, expiry, position);
  }

  private put(entry: number, expiry: number, position: number): void {
    this.expiries[position] = expiry;
    this.order[position] = entry;
    this.positions[entry] = position;
  }

  private resize(length: number): void {
    const { expiries, positions, order, count } = this;
    this.expiries = new Float64Array(length);
    this.positions = new Int32Array(length);
    this.order = new Int32Array(length);
    this.expiries.set(expiries.subarray(0, count));
    this.positions.set(positions.subarray(0, count));
    this.order.set(order.subarray(0, count));
  }
}
