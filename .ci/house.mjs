#!/usr/bin/env node
/**
 * Prints figures of `lib/`: files, functions, small files with one importer, and the imports between the rooms.
 * `node .ci/house.mjs [checkout]`, or `npm run --silent house [-- checkout]`. Two checkouts compare by reading the two tables.
 * The exit code is 1 if a function is longer than 40 lines.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { parsers } from "prettier/plugins/typescript";

const SMALL_LINES = 40;
const MAX_LINES = 40;
// Where several rooms could come next, the first of them in this list does.
const USUAL_ORDER =
  "runtime errors endpoints tracing http pipeline server di lifecycle observe routing events stages app";

const checkout = process.argv[2] ?? process.cwd();
const files = readFiles(join(checkout, "lib"));
const chosen = readChosen();
const functions = files.flatMap(functionsOf).toSorted((a, b) => a.lines - b.lines);
const importers = importersOf(files);
const imported = files.filter(({ path }) => importers.get(path).size === 1);
const small = imported.filter(({ lines }) => lines < SMALL_LINES);
const longestFile = files.reduce((a, b) => (b.lines > a.lines ? b : a));
const longestFunction = functions.at(-1);

printTable([
  ["files", files.length],
  ["lines", files.reduce((sum, { lines }) => sum + lines, 0)],
  ["median file", `${median(files)} lines`],
  ["longest file", `${longestFile.lines} lines, ${longestFile.path}`],
  ["files with one importer", imported.length],
  [`files under ${SMALL_LINES} lines with one importer`, small.length],
  ["functions with a name", functions.length],
  ["median function", `${median(functions)} lines`],
  ["functions over 15 lines", functions.filter(({ lines }) => lines > 15).length],
  [`functions over ${MAX_LINES} lines`, functions.filter(({ lines }) => lines > MAX_LINES).length],
  ["longest function", `${longestFunction.lines} lines, ${longestFunction.name} in ${longestFunction.path}`],
]);
printRooms();
if (longestFunction.lines > MAX_LINES) process.exitCode = 1;

function readFiles(folder) {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile() && /\.c?ts$/.test(entry.name))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const text = readFileSync(file, "utf8");
      const path = relative(checkout, file).replaceAll(sep, "/");
      return { path, lines: text.split("\n").length - 1, tree: parsers.typescript.parse(text, { filepath: file }) };
    });
}

/** A function counts where it has a name; a callback is part of the function around it. Overloads and abstract methods have no body. */
function functionsOf({ path, tree }) {
  const found = [];
  walk(tree, (node) => {
    const made = node.value ?? node.init ?? node;
    if (/^(?:Arrow)?Function(?:Expression|Declaration)$/.test(made.type) && made.body && (node.key ?? node.id)) {
      const { start, end } = node.loc;
      found.push({ path, name: nameOf(node.key ?? node.id), lines: end.line - start.line + 1 });
    }
  });
  return found;
}

function walk(node, visit) {
  if (typeof node.type === "string") visit(node);
  for (const [key, child] of Object.entries(node)) {
    const isNode =
      typeof child === "object" && child !== null && key !== "loc" && key !== "comments" && key !== "tokens";
    if (isNode) walk(child, visit);
  }
}

function nameOf({ name, value, property }) {
  return name ?? value ?? `[${property?.name}]`;
}

/** Static imports and re-exports of files of the library, types included. */
function importsOf({ path, tree }) {
  const sources = tree.body.flatMap(({ source }) => source?.value ?? []);
  return sources
    .filter((from) => /^[.#]/.test(from))
    .map((from) => (from.startsWith("#") ? chosen[from] : posix.join(dirname(path), from)))
    .map((file) => file.replace(/\.(c?)js$/, ".$1ts"));
}

/** The files of the library that `imports` of package.json chooses by default. */
function readChosen() {
  const { imports = {} } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  return Object.fromEntries(Object.entries(imports).map(([name, to]) => [name, posix.relative("dist", to.default)]));
}

function importersOf(all) {
  const found = new Map(all.map(({ path }) => [path, new Set()]));
  for (const file of all) for (const to of importsOf(file)) found.get(to)?.add(file.path);
  return found;
}

function median(sized) {
  const sorted = sized.map(({ lines }) => lines).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function printTable(rows) {
  const width = Math.max(...rows.map(([what]) => what.length));
  for (const [what, figure] of rows) console.log(`${what.padEnd(width)}  ${figure}`);
}

/** One row a room, one column for each room that it imports: a number right of the room's own column is an import to the right. */
function printRooms() {
  const counts = countsByRoom();
  const order = orderOf(counts);
  const width = Math.max(...order.map((room) => room.length));
  const cell = (value) => String(value).padStart(4);
  console.log(`\nimports by room: a row imports a column\n`);
  console.log(" ".repeat(width + 4) + order.map((_room, at) => cell(at + 1)).join(""));
  order.forEach((room, at) => {
    const cells = order.map((to, column) => cell(column === at ? "■" : (counts.get(room).get(to) ?? "·")));
    console.log(`${String(at + 1).padStart(2)}  ${room.padEnd(width)}${cells.join("")}`);
  });
}

function countsByRoom() {
  const roomOf = (path) => (path.split("/").length > 2 ? path.split("/")[1] : "(lib)");
  const counts = new Map(files.map(({ path }) => [roomOf(path), new Map()]));
  for (const file of files) {
    const row = counts.get(roomOf(file.path));
    for (const to of importsOf(file)) row.set(roomOf(to), (row.get(roomOf(to)) ?? 0) + 1);
  }
  return counts;
}

/** Each room comes after the rooms that it imports, as far as that is possible. */
function orderOf(counts) {
  const usual = USUAL_ORDER.split(" ");
  const rank = (room) => (usual.includes(room) ? usual.indexOf(room) : usual.length);
  const waiting = [...counts.keys()].toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const placed = [];
  while (waiting.length > 0) {
    const missing = (room) => [...counts.get(room).keys()].filter((to) => to !== room && waiting.includes(to)).length;
    const next = waiting.reduce((best, room) => (missing(room) < missing(best) ? room : best));
    placed.push(...waiting.splice(waiting.indexOf(next), 1));
  }
  return placed;
}
