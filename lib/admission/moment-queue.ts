/**
 * Numbered entries, each with a moment, of which the earliest is known at once: a heap over typed arrays, so that a million entries
 * cost the garbage collector nothing. A moment may only move later. Adding, postponing and removing cost O(log n).
 *
 * Entries are numbered without gaps: when one is removed, the last one takes its number.
 */

/** Children of a node: flatter than a binary heap, and the siblings that are compared lie next to each other. */
const FAN_OUT = 4;
const SMALLEST = 1024;

export class MomentQueue {
  /** By entry. */
  private moments = new Float64Array(SMALLEST);
  /** By entry: where it stands in the order. */
  private places = new Int32Array(SMALLEST);
  /** The entries in heap order. */
  private order = new Int32Array(SMALLEST);
  private count = 0;

  get size(): number {
    return this.count;
  }

  momentOf(entry: number): number {
    return this.moments[entry] ?? 0;
  }

  /** The entry with the earliest moment; meaningless while there is none. */
  get earliest(): number {
    return this.order[0] ?? 0;
  }

  /** @returns the new entry's number */
  add(moment: number): number {
    const entry = this.count++;
    if (entry === this.moments.length) this.resize(entry * 2);
    this.moments[entry] = moment;
    this.rise(entry, entry);
    return entry;
  }

  /** Moves `entry` to a later moment. */
  postpone(entry: number, moment: number): void {
    this.moments[entry] = moment;
    this.sink(entry, this.places[entry] ?? 0);
  }

  /** Removes the earliest. The entry that was numbered `size` afterwards has taken its number. */
  removeEarliest(): void {
    const removed = this.earliest;
    const last = --this.count;
    const lifted = this.order[last] ?? 0;
    if (last > 0) this.sink(lifted, 0);
    if (removed !== last) this.renumber(last, removed);
    if (last >= SMALLEST && last < this.moments.length / 4) this.resize(this.moments.length / 2);
  }

  private renumber(from: number, to: number): void {
    const place = this.places[from] ?? 0;
    this.moments[to] = this.moments[from] ?? 0;
    this.places[to] = place;
    this.order[place] = to;
  }

  private rise(entry: number, start: number): void {
    const { moments, places, order } = this;
    const moment = moments[entry] ?? 0;
    let place = start;
    while (place > 0) {
      const above = (place - 1) >> 2;
      const parent = order[above] ?? 0;
      if ((moments[parent] ?? 0) <= moment) break;
      order[place] = parent;
      places[parent] = place;
      place = above;
    }
    order[place] = entry;
    places[entry] = place;
  }

  private sink(entry: number, start: number): void {
    const { moments, places, order, count } = this;
    const moment = moments[entry] ?? 0;
    let place = start;
    for (let first = place * FAN_OUT + 1; first < count; first = place * FAN_OUT + 1) {
      const end = Math.min(first + FAN_OUT, count);
      let least = first;
      let leastMoment = moments[order[first] ?? 0] ?? 0;
      for (let child = first + 1; child < end; child++) {
        const other = moments[order[child] ?? 0] ?? 0;
        if (other < leastMoment) {
          least = child;
          leastMoment = other;
        }
      }
      if (moment <= leastMoment) break;
      const child = order[least] ?? 0;
      order[place] = child;
      places[child] = place;
      place = least;
    }
    order[place] = entry;
    places[entry] = place;
  }

  private resize(length: number): void {
    const { moments, places, order, count } = this;
    this.moments = new Float64Array(length);
    this.places = new Int32Array(length);
    this.order = new Int32Array(length);
    this.moments.set(moments.subarray(0, count));
    this.places.set(places.subarray(0, count));
    this.order.set(order.subarray(0, count));
  }
}
