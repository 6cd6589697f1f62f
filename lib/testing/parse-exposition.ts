/**
 * Reads the text exposition format 0.0.4 as its grammar is written, sharing nothing with the code that writes it.
 * What the text means as a whole is judged by `expectExposition`.
 */

/** One line with a value. */
export interface Sample {
  readonly name: string;
  /** In the order written. */
  readonly labels: readonly Label[];
  /** As written; a number, `NaN`, `+Inf` or `-Inf`. */
  readonly value: string;
  readonly line: Line;
}

export interface Label {
  readonly name: string;
  readonly value: string;
  /** `name="value"` as written. */
  readonly text: string;
}

/** A `# TYPE` line, the help before it, and the samples below it. */
export interface Family {
  readonly name: string;
  readonly kind: string;
  readonly line: Line;
  readonly samples: Sample[];
}

export interface Line {
  readonly number: number;
  readonly text: string;
}

/** An error that names the line. */
export function faultAt({ number, text }: Line, fault: string): Error {
  return new Error(`exposition line ${number}: ${fault}\n  ${JSON.stringify(text)}`);
}

export function parseExposition(text: string): readonly Family[] {
  const families: Family[] = [];
  let help: string | undefined;
  for (const line of linesOf(text)) {
    const family = families.at(-1);
    if (line.text.startsWith("# HELP ")) {
      if (help !== undefined) throw faultAt(line, `no # TYPE follows the # HELP of ${help}`);
      help = readHelp(line);
    } else if (line.text.startsWith("# TYPE ")) {
      families.push(readType(line, help));
      help = undefined;
    } else if (help !== undefined || family === undefined) {
      throw faultAt(line, `a # TYPE line must stand before it${help === undefined ? "" : `, for ${help}`}`);
    } else family.samples.push(readSample(line));
  }
  if (help !== undefined) throw new Error(`exposition ends after the # HELP of ${help}, without its # TYPE`);
  return families;
}

function linesOf(text: string): readonly Line[] {
  if (text === "") return [];
  const lines = text.split("\n").map((each, index) => ({ number: index + 1, text: each }));
  const last = lines.pop();
  if (last !== undefined && last.text !== "") throw faultAt(last, "the last line does not end with a newline");
  return lines;
}

function readHelp(line: Line): string {
  const [, name = "", help] = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\n]+)$/u.exec(line.text) ?? [];
  if (help === undefined) throw faultAt(line, "expected # HELP, a metric name and a help that is not empty");
  if (/\\(?!n)/u.test(help.replaceAll("\\\\", ""))) throw faultAt(line, "a backslash in a help is \\\\ or \\n");
  return name;
}

function readType(line: Line, help: string | undefined): Family {
  const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/u.exec(line.text);
  const [, name = "", kind = ""] = type ?? [];
  if (type === null) throw faultAt(line, "expected # TYPE, a metric name, and counter, gauge or histogram");
  if (help !== undefined && help !== name) throw faultAt(line, `the # HELP before it is of ${help}`);
  return { name, kind, line, samples: [] };
}

function readSample(line: Line): Sample {
  const [start = "", name = "", brace] = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{)?/u.exec(line.text) ?? [];
  if (name === "") throw faultAt(line, "expected a metric name");
  const labels = brace === undefined ? [] : readLabels(line, start.length);
  const end = start.length + labels.reduce((length, { text }) => length + text.length + 1, 0);
  const [, value] = /^ (\S+)$/u.exec(line.text.slice(end)) ?? [];
  if (value === undefined) throw faultAt(line, "expected one blank and a value at the end");
  const isNumber = ["NaN", "+Inf", "-Inf"].includes(value) || JSON.stringify(Number(value)) === value;
  if (!isNumber) throw faultAt(line, `the value ${value} is not in its shortest form`);
  return { name, labels, value, line };
}

/** From behind the opening brace to the closing one; each label with the `,` or `}` that follows it. */
function readLabels(line: Line, start: number): readonly Label[] {
  const labels: Label[] = [];
  const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"([,}])/uy;
  label.lastIndex = start;
  for (;;) {
    const [text = "", name = "", value = "", next] = label.exec(line.text) ?? [];
    if (text === "")
      throw faultAt(line, `label ${labels.length + 1} is not name="value" with \\\\, \\" and \\n escaped`);
    labels.push({ name, value, text: text.slice(0, -1) });
    if (next === "}") return labels;
  }
}
