/**
 * The rules of the TechEmpower benchmark that its contenders share: the rows, the number of queries, and the page of the fortunes. It loads
 * nothing of the framework, because the peers use it too.
 */

export const WORLDS = 10_000;

export interface World {
  readonly id: number;
  readonly randomNumber: number;
}

export interface Fortune {
  readonly id: number;
  readonly message: string;
}

export const FORTUNES: readonly Fortune[] = [
  "fortune: No such file or directory",
  "A computer scientist is someone who fixes things that aren't broken.",
  "After enough decimal places, nobody gives a damn.",
  "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
  "A computer program does what you tell it to do, not what you want it to do.",
  "Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen",
  "Any program that runs right is obsolete.",
  "A list is only as strong as its weakest link. — Donald Knuth",
  "Feature: A bug with seniority.",
  "Computers make very fast, very accurate mistakes.",
  '<script>alert("This should not be displayed in a browser alert box.");</script>',
  "フレームワークのベンチマーク",
].map((message, index) => ({ id: index + 1, message }));

const ADDED: Fortune = { id: 0, message: "Additional fortune added at request time." };

const MAX_QUERIES = 500;

/** The parameter `queries`: a whole number from 1 to 500. A missing one, and a text that is not a number, is 1. */
export function countOf(text: unknown): number {
  const count = Number.parseInt(String(text), 10);
  return Number.isNaN(count) ? 1 : Math.min(Math.max(count, 1), MAX_QUERIES);
}

/** From 1 to the number of rows: an id, or a new value. */
export function randomNumber(): number {
  return Math.floor(Math.random() * WORLDS) + 1;
}

/** Different ids in ascending order, so that two updates lock their rows in the same order. */
export function randomIds(count: number): number[] {
  const ids = new Set<number>();
  while (ids.size < count) ids.add(randomNumber());
  return [...ids].toSorted((left, right) => left - right);
}

/** The page of the rows and the added one, by message. */
export function fortunesPage(stored: readonly Fortune[]): string {
  const sorted = [...stored, ADDED].toSorted((left, right) => (left.message < right.message ? -1 : 1));
  const rows = sorted.map(({ id, message }) => `<tr><td>${id}</td><td>${escaped(message)}</td></tr>`);
  return `<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>${rows.join("")}</table></body></html>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
