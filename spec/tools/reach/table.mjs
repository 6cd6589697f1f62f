/** The generated tables of the guide. */
import { STYLES } from "./project.mjs";
import { packageOf } from "./tools.mjs";

const begin = (name) => `<!-- ${name}: written by npm run reach -- --write -->`;
const end = (name) => `<!-- end of ${name} -->`;

/** @param results a cell for each style */
export function rowOf({ tool, package: name, version = shownVersion(name), set }, results) {
  const cells = Object.entries(results).map(([style, result]) => [STYLES[style].head, result]);
  return { Tool: tool, Version: version, ...Object.fromEntries(cells), Set: set };
}

/** Without the part that changes with each correction. */
export function shownVersion(name) {
  return packageOf(name).version.split(".", 2).join(".");
}

export function tableOf(rows) {
  const heads = Object.keys(rows[0]);
  const lines = [heads, heads.map(() => "---"), ...rows.map((row) => Object.values(row))];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Puts the table between the comments of its name. */
export function withTable(page, name, table) {
  const [from, to] = [page.indexOf(begin(name)), page.indexOf(end(name))];
  if (from === -1 || to < from) throw new Error(`the page lacks the comments around the table of ${name}`);
  return `${page.slice(0, from)}${begin(name)}\n\n${table}\n\n${page.slice(to)}`;
}

/** Lines with their sign. A longer cell changes the width of every row, so widths do not count. A part of the tables has no missing rows. */
export function differencesOf(before, after, { partly }) {
  const [old, now] = [before, after].map((text) => text.replaceAll(/ {2,}|-{3,}/g, " ").split("\n"));
  const missing = partly ? [] : old.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
  return [...missing, ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`)];
}
