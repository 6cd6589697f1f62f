/**
 * Rows of texts in columns, for a terminal. Values of users are escaped: a control character could move the cursor, hide a line, or turn
 * the order of the letters.
 */

/** A line for the head and for each row, each with its end. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return formatColumns([head, ...rows]);
}

/** A line for each row, with two spaces between the columns and none at its end. */
export function formatColumns(rows: readonly (readonly string[])[], indent = ""): string {
  const cells = rows.map((row) => row.map(escapeControls));
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells
    .map((row) => `${indent}${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd() + "\n")
    .join("");
}

export function escapeControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (control) => {
    const code = control.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, "0")}`;
  });
}
