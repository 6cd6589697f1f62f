/**
 * The labels of a sample, and the one text each set of them has: sorted by name, escaped, without braces.
 * Two sets are the same series exactly when their texts are equal, whatever order they were written in.
 *
 * @example
 * labelText({ status: 200, method: "GET" }); // 'method="GET",status="200"'
 */
import { toUSVString } from "node:util";
import { escapeLabelValue } from "./exposition.js";
import { MetricsError } from "../errors.js";
import { copiedString } from "../copied-string.js";

/** Numbers and booleans stand for their text: `200` and `"200"` are the same value. */
export type LabelValue = string | number | boolean;

/** Names match `[a-zA-Z_][a-zA-Z0-9_]*`, do not start with `__`, and on a histogram are not `le`. */
export type Labels = Readonly<Record<string, LabelValue>>;

/** The text of a set of labels, which need not be a valid one. */
export function labelText(labels: Labels): string {
  const names = Object.keys(labels).toSorted();
  return names.map((name) => `${name}="${escapeLabelValue(String(labels[name]))}"`).join(",");
}

/** Whether the values are what their text says: lone surrogates, of which there is no end, all become the one U+FFFD. */
export function areWellFormed(labels: Labels): boolean {
  return Object.values(labels).every((value) => typeof value !== "string" || toUSVString(value) === value);
}

/** @throws MetricsError `E_METRIC_LABEL`, naming metric, label and rule. */
export function checkLabels(metric: string, labels: Labels, reserved: string | undefined): void {
  for (const [name, value] of Object.entries(labels)) {
    const rule = brokenRule(name, value, reserved);
    if (rule !== undefined) throw new MetricsError("E_METRIC_LABEL", metric, rule, name);
  }
}

function brokenRule(name: string, value: unknown, reserved: string | undefined): string | undefined {
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/u.test(name))
    return "a label name is letters, digits and _, not starting with a digit";
  if (name.startsWith("__")) return "label names starting with __ are Prometheus' own, choose another";
  if (name === reserved) return "le is what a histogram names its buckets by, choose another";
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return undefined;
  return `a label value is a string, a number or a boolean, not ${value === null ? "null" : typeof value}`;
}

// Finds the series of a set of labels without building a key: one step a label, in the order in which the caller wrote them.
// Every order a program uses has its own path to the same series, so a caller that keeps to one order pays for a comparison and a
// lookup a label, and allocates nothing.

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
      node = place.next(value) ?? place.grow(typeof value === "string" ? copiedString(value) : value);
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
