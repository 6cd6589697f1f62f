/**
 * The labels of a sample. Each set of labels has one text: sorted by name, escaped, without braces. Two sets are the same series if and
 * only if their texts are equal; the order of the labels does not matter.
 *
 * @example
 * formatLabels({ status: 200, method: "GET" }); // 'method="GET",status="200"'
 */
import { toUSVString } from "node:util";
import { escapeLabelValue } from "./exposition.js";
import { MetricsError } from "../errors.js";
import { copyString } from "../copy-string.js";

/** A number or a boolean counts as its text: `200` and `"200"` are the same value. */
export type LabelValue = string | number | boolean;

/** Names match `[a-zA-Z_][a-zA-Z0-9_]*`, do not start with `__`, and on a histogram are not `le`. */
export type Labels = Readonly<Record<string, LabelValue>>;

/** The text of a set of labels, which need not be valid. */
export function formatLabels(labels: Labels): string {
  const names = Object.keys(labels).toSorted();
  return names.map((name) => `${name}="${escapeLabelValue(String(labels[name]))}"`).join(",");
}

const LABEL_IN_TEXT = /([a-zA-Z_][a-zA-Z0-9_]*)="(?:[^"\\\n]|\\["\\n])*"(?:,(?!$)|$)/uy;

/** True for a text that `formatLabels` returns for valid labels. @param reserved as of `checkLabels` */
export function isLabelText(text: string, reserved: string | undefined): boolean {
  let before = "";
  LABEL_IN_TEXT.lastIndex = 0;
  while (LABEL_IN_TEXT.lastIndex < text.length) {
    const name = LABEL_IN_TEXT.exec(text)?.[1];
    if (name === undefined || name <= before || name.startsWith("__") || name === reserved) return false;
    before = name;
  }
  return true;
}

/** True if no value has a lone surrogate. The texts of such values are equal (U+FFFD), and there are very many of them. */
export function areWellFormed(labels: Labels): boolean {
  return Object.values(labels).every((value) => typeof value !== "string" || toUSVString(value) === value);
}

/**
 * @param reserved A label name that the metric uses itself.
 * @throws MetricsError `E_METRIC_LABEL` It names metric, label and rule.
 */
export function checkLabels(metric: string, labels: Labels, reserved: string | undefined): void {
  for (const [name, value] of Object.entries(labels)) {
    const rule = findBrokenRule(name, value, reserved);
    if (rule !== undefined) throw new MetricsError("E_METRIC_LABEL", metric, rule, name);
  }
}

function findBrokenRule(name: string, value: unknown, reserved: string | undefined): string | undefined {
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/u.test(name))
    return "a label name is letters, digits and _, not starting with a digit";
  if (name.startsWith("__")) return "label names starting with __ are Prometheus' own, choose another";
  if (name === reserved) return "a histogram itself has the label le, choose another";
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return undefined;
  return `a label value is a string, a number or a boolean, not ${value === null ? "null" : typeof value}`;
}

/** Up to this number of values, a comparison with each of them takes half the time of a map. */
const MAX_COMPARED_VALUES = 8;

/**
 * Finds the series of a set of labels without building its text: one step for each label, in the order in which the caller wrote them. Each
 * order that a program uses is another path to the same series. A step costs a comparison or a lookup and does not allocate.
 */
export class LabelTree<S> {
  private series: S | undefined = undefined;
  /** The first label name after this node. Most programs use no other. */
  private name: string | undefined = undefined;
  /** The nodes for other label names. */
  private others: Map<string, LabelTree<S>> | undefined = undefined;
  /** The node of the newest value. Each node of a value leads to the next older one. */
  private newest: LabelTree<S> | undefined = undefined;
  private count = 0;
  /** The nodes by value, if there are many. */
  private byValue: Map<LabelValue | undefined, LabelTree<S>> | undefined = undefined;

  constructor(
    private readonly value?: LabelValue,
    private readonly older?: LabelTree<S>,
  ) {}

  find(labels: Labels): S | undefined {
    // oxlint-disable-next-line typescript/no-this-alias, unicorn/no-this-assignment -- the path starts here
    let node: LabelTree<S> | undefined = this;
    for (const name in labels) {
      // Twice as fast here as `Object.hasOwn`. An inherited member is not a label. oxlint-disable-next-line prefer-object-has-own
      if (!Object.prototype.hasOwnProperty.call(labels, name)) continue;
      const named: LabelTree<S> | undefined = name === node.name ? node : node.others?.get(name);
      // `name` comes from the loop over the same object.
      node = named?.findChild(labels[name] as LabelValue);
      if (node === undefined) return undefined;
    }
    return node.series;
  }

  /** Adds the path of these labels, in their order, to `series`. Their values have no lone surrogates. */
  add(labels: Labels, series: S): void {
    // oxlint-disable-next-line typescript/no-this-alias, unicorn/no-this-assignment -- the path starts here
    let node: LabelTree<S> = this;
    for (const [name, value] of Object.entries(labels)) {
      const named = node.getNode(name);
      node = named.findChild(value) ?? named.addChild(typeof value === "string" ? copyString(value) : value);
    }
    node.series = series;
  }

  private findChild(value: LabelValue): LabelTree<S> | undefined {
    if (this.byValue !== undefined) return this.byValue.get(value);
    let node = this.newest;
    while (node !== undefined && node.value !== value) node = node.older;
    return node;
  }

  private addChild(value: LabelValue): LabelTree<S> {
    const node = new LabelTree<S>(value, this.newest);
    this.newest = node;
    this.count++;
    if (this.byValue !== undefined) this.byValue.set(value, node);
    else if (this.count > MAX_COMPARED_VALUES)
      this.byValue = new Map([...this.children()].map((child) => [child.value, child]));
    return node;
  }

  private *children(): Generator<LabelTree<S>> {
    for (let node = this.newest; node !== undefined; node = node.older) yield node;
  }

  private getNode(name: string): LabelTree<S> {
    this.name ??= name;
    if (name === this.name) return this;
    this.others ??= new Map();
    const node = this.others.get(name) ?? new LabelTree<S>();
    this.others.set(name, node);
    return node;
  }
}
