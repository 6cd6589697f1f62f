/**
 * The metadata of a page about its props: which props follow later, and which ones the browser merges, keeps or scrolls. The resolver adds
 * a mark for each such prop. The marks have the order of the declaration, also if the props resolve in another order.
 */
import type { Clock } from "../../../runtime/clock.js";
import type { PageRequest } from "../protocol/page-request.js";
import type { PartialFilter } from "./partial-filter.js";
import type { Prop } from "./prop.js";

/** The outcome of a prop: sent now, sent later, omitted because the client has it, or omitted after a failure. */
export type MarkOutcome = "sent" | "later" | "known" | "rescued";

export interface Mark {
  readonly path: string;
  readonly prop: Prop<unknown>;
  readonly outcome: MarkOutcome;
  /** The value of a prop that is sent. */
  readonly value: unknown;
}

/** Marks in the order of the props. A pending prop has a separate list, which is filled when it resolves. */
export type Marks = (Mark | Marks)[];

/** The members of the page object that describe its props; absent if empty. */
export interface PropMetadata {
  mergeProps?: string[];
  prependProps?: string[];
  deepMergeProps?: string[];
  matchPropsOn?: string[];
  scrollProps?: Record<string, ScrollMetadata>;
  onceProps?: Record<string, { readonly prop: string; readonly expiresAt: number | null }>;
  deferredProps?: Record<string, string[]>;
  rescuedProps?: string[];
}

type Cursor = string | number | null;

export interface ScrollMetadata {
  readonly pageName: string;
  readonly previousPage: Cursor;
  readonly nextPage: Cursor;
  readonly currentPage: Cursor;
  readonly reset: boolean;
}

interface MarkContext {
  readonly visit: PageRequest;
  readonly filter: PartialFilter | undefined;
  readonly clock: Clock;
}

export function collectMetadata(marks: Marks, reading: MarkContext): PropMetadata {
  const metadata: PropMetadata = {};
  addMarks(metadata, marks, reading);
  return metadata;
}

/** Without a prototype, because the application chooses the names: `constructor` would be inherited. */
function createTable<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}

function addMarks(metadata: PropMetadata, marks: Marks, reading: MarkContext): void {
  for (const mark of marks) {
    if (Array.isArray(mark)) addMarks(metadata, mark, reading);
    else addMark(metadata, mark, reading);
  }
}

function addMark(metadata: PropMetadata, mark: Mark, reading: MarkContext): void {
  const { path, prop, outcome } = mark;
  const { timing, group } = prop.settings;
  if (outcome === "rescued") {
    (metadata.rescuedProps ??= []).push(path);
    return;
  }
  if (timing === "deferred" && outcome === "later")
    ((metadata.deferredProps ??= createTable())[group] ??= []).push(path);
  if (outcome === "sent") addScroll(metadata, mark, reading);
  const { filter, visit } = reading;
  // A prop that contains a requested prop is sent in part.
  if (filter !== undefined && !filter.asksFor(path)) return;
  if (isMerged(mark) && !isReset(path, reading)) addMerge(metadata, mark, visit);
  addOnce(metadata, mark, reading.clock);
}

/** The list belongs to the partial reload, so it does not count for the page of another component, as after a redirect. */
function isReset(path: string, { filter, visit }: MarkContext): boolean {
  return filter !== undefined && visit.reset.includes(path);
}

/** A usual prop that the client has is not sent, so it is not merged. A deferred prop may still be requested. */
function isMerged({ prop: { settings }, outcome }: Mark): boolean {
  return outcome !== "known" || settings.timing !== "usual";
}

function addMerge(metadata: PropMetadata, { path, prop }: Mark, { mergesAtStart }: PageRequest): void {
  const { merge, matchOn, scroll } = prop.settings;
  if (scroll !== undefined) {
    const list = `${path}.${scroll.list}`;
    if (mergesAtStart) (metadata.prependProps ??= []).push(list);
    else (metadata.mergeProps ??= []).push(list);
  } else if (merge === undefined) {
    return;
  } else if (merge.isDeep) {
    (metadata.deepMergeProps ??= []).push(path);
  } else {
    for (const at of new Set(merge.append)) (metadata.mergeProps ??= []).push(joinPath(path, at));
    for (const at of new Set(merge.prepend)) (metadata.prependProps ??= []).push(joinPath(path, at));
  }
  const base = scroll === undefined ? path : `${path}.${scroll.list}`;
  for (const key of new Set(matchOn)) (metadata.matchPropsOn ??= []).push(`${base}.${key}`);
}

function joinPath(path: string, at: string): string {
  return at === "" ? path : `${path}.${at}`;
}

function addOnce(metadata: PropMetadata, { path, prop }: Mark, clock: Clock): void {
  const { once } = prop.settings;
  if (once === undefined) return;
  const expiresAt = once.seconds === undefined ? null : Math.round(clock.now() + once.seconds * 1000);
  (metadata.onceProps ??= createTable())[once.key ?? path] = { prop: path, expiresAt };
}

function addScroll(metadata: PropMetadata, { path, prop, value }: Mark, reading: MarkContext): void {
  const { scroll } = prop.settings;
  if (scroll === undefined) return;
  const { currentPage, previousPage, nextPage } = checkScrollPage(path, value);
  (metadata.scrollProps ??= createTable())[path] = {
    pageName: scroll.pageName,
    previousPage: checkCursor(path, previousPage),
    nextPage: checkCursor(path, nextPage),
    currentPage: checkCursor(path, currentPage),
    reset: isReset(path, reading),
  };
}

function checkScrollPage(path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && "data" in value && Array.isArray(value.data)) {
    return value;
  }
  throw new TypeError(`the scroll prop ${path} is not a page of a list: give { data: […], currentPage, nextPage }`);
}

function checkCursor(path: string, cursor: unknown): Cursor {
  if (cursor === undefined || cursor === null) return null;
  if (typeof cursor === "string" || typeof cursor === "number") return cursor;
  throw new TypeError(`the scroll prop ${path} names a page by a ${typeof cursor}: give a string, a number or null`);
}
