/**
 * The marks of a request for the browser's history. The next page sends them if the response of this request is a redirect; the session,
 * which stores them, is necessary then.
 *
 * @example
 * clearHistory(ctx); // at a sign-out, whose response is a redirect
 * return redirect().to("/");
 */
import type { Context } from "../../../http/request/context.js";
import { Extension } from "../../../http/request/extension.js";
import { FlashPort } from "../../session/flash-port.js";

const CLEAR = "pages.clear-history";
const KEEP = "pages.keep-fragment";

const Marks = new Extension<ReadonlySet<string>>("page history");

/** The browser forgets the key of its encrypted history when it gets the next page. */
export function clearHistory(ctx: Context): void {
  mark(ctx, CLEAR);
}

/** The next page keeps the fragment of the requested URL, also after a redirect. */
export function preserveFragment(ctx: Context): void {
  mark(ctx, KEEP);
}

function mark(ctx: Context, name: string): void {
  Marks.set(ctx, new Set([...(Marks.find(ctx) ?? []), name]));
}

export interface HistoryMarks {
  readonly clears: boolean;
  readonly keepsFragment: boolean;
}

/** The marks of this request, and those that were stored with a redirect. @internal */
export function getHistory(ctx: Context, left: readonly string[]): HistoryMarks {
  const marks = Marks.find(ctx);
  const has = (name: string): boolean => marks?.has(name) === true || left.includes(name);
  return { clears: has(CLEAR), keepsFragment: has(KEEP) };
}

/** Stores the marks of this request, whose response is a redirect, for the next page. @internal */
export function storeHistoryMarks(ctx: Context): void {
  const marks = Marks.find(ctx);
  if (marks === undefined) return;
  const flash = FlashPort.find(ctx);
  for (const name of marks) flash?.addMark(name);
}
