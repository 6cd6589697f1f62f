/**
 * Finds the series of a set of labels without building a key: one step a label, in the order in which the caller wrote them.
 * Every order a program uses has its own path to the same series, so a caller that keeps to one order pays for a comparison and a
 * lookup a label, and allocates nothing.
 */
import { ownText } from "../kernel/own-text.js";
import type { Labels, LabelValue } from "./labels.js";

/** Up to here a row of values is compared one by one, which takes half the time of a map; beyond, a map. */
const FEW = 8;

export class LabelTree<S> {
  private series: S | undefined = undefined;
  /** The label name first seen at this place: in most programs the only one. */
  private name: string | undefined = undefined;
  private others: Map<string, LabelTree<S>> | undefined = undefined;
  private readonly values: LabelValue[] = [];
  private readonly nodes: LabelTree<S>[] = [];
  private many: Map<LabelValue | undefined, LabelTree<S>> | undefined = undefined;

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
    const { values } = this;
    for (let index = 0; index < values.length; index++) if (values[index] === value) return this.nodes[index];
    return undefined;
  }

  private grow(value: LabelValue): LabelTree<S> {
    const node = new LabelTree<S>();
    if (this.many === undefined && this.values.length === FEW) {
      this.many = new Map(this.nodes.map((each, index) => [this.values[index], each]));
    }
    if (this.many === undefined) {
      this.values.push(value);
      this.nodes.push(node);
    }
    this.many?.set(value, node);
    return node;
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
