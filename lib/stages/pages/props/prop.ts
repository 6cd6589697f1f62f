/**
 * Props with options: sent only on request, after the page, or once, or merged into the value that the browser has. A prop of a page is a
 * value, a function that returns one, or a `Prop` around either. A function gets the context of the request, and `ctx.signal` in it aborts
 * with the request.
 *
 * @example
 * page("links/show", {
 *   link,
 *   clicks: deferred(({ signal }) => this.clicks.perDay(link.id, signal), { group: "chart" }),
 *   countries: once(() => this.countries.all()).until(3600),
 * });
 */
import type { Context } from "../../../http/request/context.js";

/** A value, a promise of one, or a function that returns one when the page needs it. */
export type PropSource<T> = T | Promise<T> | ((ctx: Context) => T | Prop<T> | Promise<T | Prop<T>>);

/**
 * When a prop is sent. `usual`: with each page, and with a partial reload that includes it. `always`: with every response. `optional`: only
 * on request. `deferred`: in a separate request after the page.
 */
export type PropTiming = "usual" | "always" | "optional" | "deferred";

/** The paths of the lists to which the browser adds new values: `append` at the end, `prepend` at the start. `""` is the prop itself. */
interface MergeSettings {
  readonly isDeep: boolean;
  readonly append: readonly string[];
  readonly prepend: readonly string[];
}

interface OnceSettings {
  readonly key: string | undefined;
  readonly seconds: number | undefined;
  readonly isFresh: boolean;
}

/** @internal */
export interface PropSettings {
  readonly timing: PropTiming;
  readonly group: string;
  readonly isRescued: boolean;
  readonly merge: MergeSettings | undefined;
  readonly matchOn: readonly string[];
  readonly once: OnceSettings | undefined;
  readonly scroll: ScrollSettings | undefined;
}

/** @internal */
export interface ScrollSettings {
  readonly pageName: string;
  readonly list: string;
}

const NO_MERGE: MergeSettings = { isDeep: false, append: [], prepend: [] };

const DEFAULTS: PropSettings = {
  timing: "usual",
  group: "default",
  isRescued: false,
  merge: undefined,
  matchOn: [],
  once: undefined,
  scroll: undefined,
};

/** A prop that may be absent from the first response has `"late"` in its type: its member of the contract must be optional. */
export class Prop<out T, out Presence extends "present" | "late" = "present" | "late"> {
  /** Only in the type. */
  declare readonly presence: Presence;

  /** @internal */
  constructor(
    /** @internal */
    readonly source: PropSource<T>,
    /** @internal */
    readonly settings: PropSettings,
  ) {}

  /** The browser adds new values to those that it has: at the end of the list, or of the list at `path` inside the prop. */
  append(path = ""): Prop<T, Presence> {
    const { merge: before = NO_MERGE } = this.settings;
    return this.with({ merge: { ...before, append: [...before.append, path] } });
  }

  /** Like `append`, at the start of the list. */
  prepend(path = ""): Prop<T, Presence> {
    const { merge: before = NO_MERGE } = this.settings;
    return this.with({ merge: { ...before, prepend: [...before.prepend, path] } });
  }

  /** The browser merges objects at every depth, and appends to every list. */
  deepMerge(): Prop<T, Presence> {
    return this.with({ merge: { ...NO_MERGE, isDeep: true } });
  }

  /** Items with the same value at this key are replaced, not repeated: `"id"`, or `"data.id"` for a list inside the prop. */
  matchOn(...keys: readonly string[]): Prop<T, Presence> {
    return this.with({ matchOn: [...this.settings.matchOn, ...keys] });
  }

  /**
   * The browser keeps the value across visits, and the server does not compute it again. `key` identifies the value on pages where the prop
   * has another name.
   */
  once(key?: string): Prop<T, Presence> {
    const { seconds, isFresh = false } = this.settings.once ?? {};
    return this.with({ once: { key, seconds, isFresh } });
  }

  /** How long the browser keeps a once prop, in seconds. Without it: until a full page load. */
  until(seconds: number): Prop<T, Presence> {
    if (!(seconds > 0) || !Number.isFinite(seconds)) throw new RangeError(`until(${seconds}): give seconds above 0`);
    const { key, isFresh = false } = this.settings.once ?? {};
    return this.with({ once: { key, seconds, isFresh } });
  }

  /** Sends a once prop also to a browser that has it: after a sign-in, for example. */
  fresh(isFresh = true): Prop<T, Presence> {
    const { key, seconds } = this.settings.once ?? {};
    return this.with({ once: { key, seconds, isFresh } });
  }

  private with(changed: Partial<PropSettings>): Prop<T, Presence> {
    return new Prop(this.source, { ...this.settings, ...changed });
  }
}

/** Sent with every response, also with a partial reload that does not name it. */
export function always<T>(source: PropSource<T>): Prop<T, "present"> {
  return new Prop(source, { ...DEFAULTS, timing: "always" });
}

/** Sent only to a partial reload that names it. */
export function optional<T>(source: PropSource<T>): Prop<T, "late"> {
  return new Prop(source, { ...DEFAULTS, timing: "optional" });
}

export interface DeferredOptions {
  /** The browser fetches the props of one group in one request; `default` unless set. */
  readonly group?: string;
  /** After a failure the response omits the prop and names it in `rescuedProps`; otherwise the request of the group fails. */
  readonly rescue?: boolean;
}

/** Not part of the page: the browser asks for it as soon as the page is shown. */
export function deferred<T>(source: PropSource<T>, options: DeferredOptions = {}): Prop<T, "late"> {
  const { group = "default", rescue = false } = options;
  return new Prop(source, { ...DEFAULTS, timing: "deferred", group, isRescued: rescue });
}

/** The browser appends the new value to its current value. */
export function merge<T>(source: PropSource<T>): Prop<T, "present"> {
  return new Prop(source, DEFAULTS).append() as Prop<T, "present">;
}

/** The browser puts the new value before its current value. */
export function prepend<T>(source: PropSource<T>): Prop<T, "present"> {
  return new Prop(source, DEFAULTS).prepend() as Prop<T, "present">;
}

/** The browser merges the new value into its current value, at every depth. */
export function deepMerge<T>(source: PropSource<T>): Prop<T, "present"> {
  return new Prop(source, DEFAULTS).deepMerge() as Prop<T, "present">;
}

/** Computed for the first page that has it; the browser keeps it for the next pages. */
export function once<T>(source: PropSource<T>): Prop<T, "present"> {
  return new Prop(source, DEFAULTS).once() as Prop<T, "present">;
}

/** A page of a list: the items, and the names of the pages around it. `null` says that there is none. */
export interface ScrollPage<Item> {
  readonly data: readonly Item[];
  readonly currentPage: string | number | null;
  readonly previousPage?: string | number | null;
  readonly nextPage?: string | number | null;
}

export interface ScrollOptions {
  /** The query parameter that names the page; `page` unless set. */
  readonly pageName?: string;
  /** The page comes in a separate request, after the first response. */
  readonly defer?: boolean | DeferredOptions;
}

/** A list that the browser extends while the reader scrolls (`<InfiniteScroll>` of the client). */
export function scroll<P extends ScrollPage<unknown>>(
  source: PropSource<P>,
  options?: ScrollOptions & { readonly defer?: false },
): Prop<P, "present">;
export function scroll<P extends ScrollPage<unknown>>(source: PropSource<P>, options: ScrollOptions): Prop<P, "late">;
export function scroll<P extends ScrollPage<unknown>>(source: PropSource<P>, options: ScrollOptions = {}): Prop<P> {
  const { pageName = "page", defer = false } = options;
  const scrolled: PropSettings = { ...DEFAULTS, scroll: { pageName, list: "data" } };
  if (defer === false) return new Prop(source, scrolled);
  const { settings } = deferred(source, defer === true ? {} : defer);
  return new Prop(source, { ...settings, scroll: scrolled.scroll });
}
