/**
 * Finds the series of a set of labels without building a key: one step a label, in the order in which the caller wrote them.
 * Every order a program uses has its own path to the same series, so a caller that keeps to one order pays for a comparison and a
 * lookup a label, and allocates nothing.
 */
import { ownText } from "../kernel/own-text.js";
import type { Labels, LabelValue } from "./labels.js";

/** So many values are compared one by one, along a chain, which takes half the time of a map; more are a map. */
const FEW = 8;

export class LabelTree<S> {
  private series: S | undefined = undefined;
  /** The label name first seen at this place: in most programs the only one. */
  private name: string | undefined = undefined;
  private others: Map<string, LabelTree<S>> | undefined = undefined;
  /** The value seen last at this place, from which the chain leads to those seen before. */
  private last: LabelTree<S> | undefined = undefined;
  private count = 0;
  private many: Map<LabelValue | undefined, LabelTree<S>> | undefined = undefined;

  constructor(
    private readonly value?: LabelValue,
    private readonly before?: LabelTree<S>,
  ) {}

  find(labels: Labels): S | undefined {
    // oxlint-disable-next-line typescript/no-this-alias, unicorn/no-this-assignment -- the walk starts here
    let node: LabelTree<S> | undefined = this;
    for (const name in labels) {
      // Twice as fast here as `Object.hasOwn`; what is inherited is no label.
      // oxlint-disable-next-line prefer-object-has-own
      if (!Object.prototype.hasOwnProperty.call(labels, name)) continue;
      const place: LabelTree<S> | undefined = name === node.name ? node : node.others?.get(name);
      // The key comes from the loop over the same object.
      node = place?.next(labels[name] as LabelValue);
      if (node === undefined) return undefined;
    }
    return node.series;
  }

  /** Lays the path of these labels, in their order, to `series`. Their values are well-formed. */
  add(labels: Labels, series: S): void {
    // oxlint-disable-next-line typescript/no-this-alias, unicorn/no-this-assignment -- the walk starts here
    let node: LabelTree<S> = this;
    for (const [name, value] of Object.entries(labels)) {
      const place = node.place(name);
      node = place.next(value) ?? place.grow(typeof value === "string" ? ownText(value) : value);
    }
    node.series = series;
  }

  private next(value: LabelValue): LabelTree<S> | undefined {
    if (this.many !== undefined) return this.many.get(value);
    let node = this.last;
    while (node !== undefined && node.value !== value) node = node.before;
    return node;
  }

  private grow(value: LabelValue): LabelTree<S> {
    const node = new LabelTree<S>(value, this.last);
    this.last = node;
    this.count++;
    if (this.many !== undefined) this.many.set(value, node);
    else if (this.count > FEW) this.many = new Map([...this.chain()].map((each) => [each.value, each]));
    return node;
  }

  private *chain(): Generator<LabelTree<S>> {
    for (let node = this.last; node !== undefined; node = node.before) yield node;
  }

  private place(name: string): LabelTree<S> {
    this.name ??= name;
    if (name === this.name) return this;
    this.others ??= new Map();
    const place = this.others.get(name) ?? new LabelTree<S>();
    this.others.set(name, place);
    return place;
  }
}
