/**
 * Checks a metrics page: the grammar of the text exposition format 0.0.4, and the order and consistency that this framework adds. Metrics
 * come in name order, each under one `# TYPE` line. The samples of a metric come in the order of their labels, each once. Labels are
 * sorted, with `le` last. Histogram buckets are cumulative, end with `+Inf` and agree with `_count`. Not for the page of another
 * exporter, which may order its lines differently.
 *
 * @example
 * expectExposition(await (await app.get("/metrics")).text());
 */

/** @throws Error naming the first wrong line and its fault */
export function expectExposition(text: string): void {
  let before = "";
  for (const family of parseExposition(text)) {
    if (family.name <= before)
      throw createFault(family.line, `${family.name} comes after ${before}: once each, in name order`);
    before = family.name;
    for (const sample of family.samples) expectLabelOrder(sample);
    if (family.kind === "histogram") expectHistogram(family);
    else expectValues(family);
  }
}

function expectLabelOrder({ labels, line }: Sample): void {
  const names = labels.map(({ name }) => name).filter((name, index) => name !== "le" || index < labels.length - 1);
  const sorted = [...new Set(names)].toSorted();
  if (names.join() !== sorted.join()) throw createFault(line, "labels are sorted by name, each once, le last");
}

function expectValues({ name, kind, samples }: Family): void {
  expectSeriesOrder(samples);
  for (const sample of samples) {
    if (sample.name !== name) throw createFault(sample.line, `the sample does not belong to ${name}`);
    const isCount = Number(sample.value) >= 0 && sample.value !== "+Inf";
    if (kind === "counter" && !isCount) throw createFault(sample.line, "a counter is a finite number of at least 0");
  }
}

function expectSeriesOrder(samples: readonly Sample[]): void {
  let before: string | undefined;
  for (const { labels, line } of samples) {
    const text = joinLabels(labels);
    if (before !== undefined && text <= before) throw createFault(line, "series are sorted by their labels, each once");
    before = text;
  }
}

function expectHistogram({ name, line, samples }: Family): void {
  const sums: Sample[] = [];
  let buckets: Sample[] = [];
  let sum: Sample | undefined;
  for (const sample of samples) {
    if (sample.name === `${name}_bucket` && sum === undefined) buckets.push(sample);
    else if (sample.name === `${name}_sum` && sum === undefined) sum = sample;
    else if (sample.name === `${name}_count` && sum !== undefined) {
      expectBuckets(buckets, sum, sample);
      sums.push(sum);
      [buckets, sum] = [[], undefined];
    } else throw createFault(sample.line, `expected the buckets of a series of ${name}, its _sum, its _count`);
  }
  if (buckets.length > 0 || sum !== undefined)
    throw createFault(line, `the last series of ${name} has no _sum or no _count`);
  expectSeriesOrder(sums);
}

function expectBuckets(buckets: readonly Sample[], sum: Sample, count: Sample): void {
  const labels = joinLabels(sum.labels);
  let bound = -Infinity;
  let total = 0;
  for (const { labels: bucketLabels, value, line } of buckets) {
    const le = bucketLabels.at(-1);
    if (le?.name !== "le" || joinLabels(bucketLabels.slice(0, -1)) !== labels)
      throw createFault(line, "a bucket has the labels of its series and le");
    const next = readBound(le);
    if (!(next > bound)) throw createFault(line, "bucket bounds ascend");
    if (!/^\d+$/u.test(value) || Number(value) < total) throw createFault(line, "buckets are cumulative counts");
    [bound, total] = [next, Number(value)];
  }
  if (bound !== Infinity) throw createFault(sum.line, 'the buckets before it do not end with le="+Inf"');
  if (joinLabels(count.labels) !== labels) throw createFault(count.line, "_sum and _count have the same labels");
  if (Number(count.value) !== total)
    throw createFault(count.line, `_count differs from the +Inf bucket, which is ${total}`);
}

function readBound({ value }: Label): number {
  return value === "+Inf" ? Infinity : Number(value);
}

function joinLabels(labels: readonly Label[]): string {
  return labels.map(({ text }) => text).join(",");
}

// The parser shares no code with the writer of the page, so that a mistake of the writer cannot hide.

/** One line with a value. */
interface Sample {
  readonly name: string;
  /** In the order of the line. */
  readonly labels: readonly Label[];
  /** The text of a number, `NaN`, `+Inf` or `-Inf`. */
  readonly value: string;
  readonly line: Line;
}

interface Label {
  readonly name: string;
  readonly value: string;
  /** The text of the whole label: `name="value"`. */
  readonly text: string;
}

/** A `# TYPE` line and the samples below it. */
interface Family {
  readonly name: string;
  readonly kind: string;
  readonly line: Line;
  readonly samples: Sample[];
}

interface Line {
  readonly number: number;
  readonly text: string;
}

function createFault({ number, text }: Line, fault: string): Error {
  return new Error(`exposition line ${number}: ${fault}\n  ${JSON.stringify(text)}`);
}

function parseExposition(text: string): readonly Family[] {
  const families: Family[] = [];
  let help: string | undefined;
  for (const line of splitLines(text)) {
    const family = families.at(-1);
    if (line.text.startsWith("# HELP ")) {
      if (help !== undefined) throw createFault(line, `no # TYPE follows the # HELP of ${help}`);
      help = readHelp(line);
    } else if (line.text.startsWith("# TYPE ")) {
      families.push(readType(line, help));
      help = undefined;
    } else if (help !== undefined || family === undefined) {
      throw createFault(line, `a # TYPE line must come before this line${help === undefined ? "" : `, for ${help}`}`);
    } else family.samples.push(readSample(line));
  }
  if (help !== undefined) throw new Error(`exposition ends after the # HELP of ${help}, without its # TYPE`);
  return families;
}

function splitLines(text: string): readonly Line[] {
  if (text === "") return [];
  const lines = text.split("\n").map((each, index) => ({ number: index + 1, text: each }));
  const last = lines.pop();
  if (last !== undefined && last.text !== "") throw createFault(last, "the last line does not end with a newline");
  return lines;
}

function readHelp(line: Line): string {
  const [, name = "", help] = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\n]+)$/u.exec(line.text) ?? [];
  if (help === undefined) throw createFault(line, "expected # HELP, a metric name and a help text");
  if (/\\(?!n)/u.test(help.replaceAll("\\\\", "")))
    throw createFault(line, "a help text writes a backslash as \\\\ and a line break as \\n");
  return name;
}

function readType(line: Line, help: string | undefined): Family {
  const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/u.exec(line.text);
  const [, name = "", kind = ""] = type ?? [];
  if (type === null) throw createFault(line, "expected # TYPE, a metric name, and counter, gauge or histogram");
  if (help !== undefined && help !== name) throw createFault(line, `the # HELP line before it names ${help}`);
  return { name, kind, line, samples: [] };
}

function readSample(line: Line): Sample {
  const [start = "", name = "", brace] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{)?/u.exec(line.text) ?? [];
  if (name === "") throw createFault(line, "expected a metric name");
  const labels = brace === undefined ? [] : readLabels(line, start.length);
  const end = start.length + labels.reduce((length, { text }) => length + text.length + 1, 0);
  const [, value] = /^ (\S+)$/u.exec(line.text.slice(end)) ?? [];
  if (value === undefined) throw createFault(line, "expected one space and a value at the end");
  const isCanonical = ["NaN", "+Inf", "-Inf"].includes(value) || JSON.stringify(Number(value)) === value;
  if (!isCanonical) throw createFault(line, `the value ${value} is not in its shortest form`);
  return { name, labels, value, line };
}

/** Reads from behind the opening brace to the closing brace. Each match takes the `,` or `}` after the label too. */
function readLabels(line: Line, start: number): readonly Label[] {
  const labels: Label[] = [];
  const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"([,}])/uy;
  label.lastIndex = start;
  for (;;) {
    const [text = "", name = "", value = "", next] = label.exec(line.text) ?? [];
    if (text === "")
      throw createFault(line, `label ${labels.length + 1} is not name="value" with \\\\, \\" and \\n escaped`);
    labels.push({ name, value, text: text.slice(0, -1) });
    if (next === "}") return labels;
  }
}
