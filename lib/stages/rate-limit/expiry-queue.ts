/**
 * Numbered entries, each with a moment, of which the earliest is known at once: a heap over typed arrays, so that a million entries
 * cost the garbage collector nothing. A moment may only move later. Adding, postponing and removing cost O(log n).
 *
 * Entries are numbered without gaps: when one is removed, the last one takes its number.
 */

/** Children of a node: flatter than a binary heap, and the siblings that are compared lie next to each other. */
const FAN_OUT = 4;
const SMALLEST = 1024;

export class ExpiryQueue {
  /** In heap order, so that the siblings that are compared lie next to each other. */
  private expiries = new Float64Array(SMALLEST);
  /** The entries in heap order. */
  private order = new Int32Array(SMALLEST);
  /** By entry: where it stands in the order. */
  private positions = new Int32Array(SMALLEST);
  private count = 0;

  get size(): number {
    return this.count;
  }

  expiryOf(entry: number): number {
    return this.expiries[this.positions[entry] ?? 0] ?? 0;
  }

  /** The entry with the earliest moment; meaningless while there is none. */
  get earliest(): number {
    return this.order[0] ?? 0;
  }

  /** @returns the new entry's number */
  add(moment: number): number {
    const entry = this.count++;
    if (entry === this.expiries.length) this.resize(entry * 2);
    this.rise(entry, moment, entry);
    return entry;
  }

  /** Moves `entry` to a later moment. */
  postpone(entry: number, moment: number): void {
    this.sink(entry, moment, this.positions[entry] ?? 0);
  }

  /** Gives the earliest any other moment. */
  replaceEarliest(moment: number): void {
    this.sink(this.earliest, moment, 0);
  }

  /** Removes the earliest. The entry that was numbered `size` afterwards has taken its number. */
  removeEarliest(): void {
    const removed = this.earliest;
    const last = --this.count;
    if (last > 0) this.sink(this.order[last] ?? 0, this.expiries[last] ?? 0, 0);
    if (removed !== last) this.renumber(last, removed);
    if (last >= SMALLEST && last < this.expiries.length / 4) this.resize(this.expiries.length / 2);
  }

  private renumber(from: number, to: number): void {
    const place = this.positions[from] ?? 0;
    this.positions[to] = place;
    this.order[place] = to;
  }

  private rise(entry: number, moment: number, start: number): void {
    const { expiries, order } = this;
    let place = start;
    while (place > 0) {
      const above = (place - 1) >> 2;
      const parentMoment = expiries[above] ?? 0;
      if (parentMoment <= moment) break;
      this.put(order[above] ?? 0, parentMoment, place);
      place = above;
    }
    this.put(entry, moment, place);
  }

  private sink(entry: number, moment: number, start: number): void {
    const { expiries, order, count } = this;
    let place = start;
    for (let first = place * FAN_OUT + 1; first < count; first = place * FAN_OUT + 1) {
      const end = Math.min(first + FAN_OUT, count);
      let least = first;
      let leastMoment = expiries[first] ?? 0;
      for (let child = first + 1; child < end; child++) {
        const other = expiries[child] ?? 0;
        if (other < leastMoment) {
          least = child;
          leastMoment = other;
        }
      }
      if (moment <= leastMoment) break;
      this.put(order[least] ?? 0, leastMoment, place);
      place = least;
    }
    this.put(entry, moment, place);
  }

  private put(entry: number, moment: number, place: number): void {
    this.expiries[place] = moment;
    this.order[place] = entry;
    this.positions[entry] = place;
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
