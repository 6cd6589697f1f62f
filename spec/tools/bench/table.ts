/** Medians, readable numbers and a markdown table. */

/** The middle value; for an even number of values the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** Columns of numbers are right-aligned. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const isNumeric = head.map((_, column) => rows.every((row) => /^[\d.,]+$|^NaN$|^–$/.test(row[column] ?? "")));
  const widths = head.map((title, column) => Math.max(title.length, 3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0, isNumeric[column] ?? false)).join(" | ")} |`;
  const rule = widths.map((width, column) => (isNumeric[column] ? `${"-".repeat(width - 1)}:` : "-".repeat(width)));
  return [line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}

function pad(cell: string, width: number, isNumeric: boolean): string {
  return isNumeric ? cell.padStart(width) : cell.padEnd(width);
}

/** 12345.6 as `12,346`. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
