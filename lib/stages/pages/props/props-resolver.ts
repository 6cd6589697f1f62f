/**
 * Resolves the declared props of a page into values: it omits the props that this response does not send, calls functions, and awaits
 * promises. All functions start at once, so a page takes the time of its slowest prop. A page of plain values creates no promise.
 *
 * Functions and props are also found in the members of object literals, to a depth that no hand-written literal exceeds, but not in lists.
 */
import { describeThrown } from "../../../errors/thrown-value.js";
import type { Context } from "../../../http/request/context.js";
import { toPromise, isPromise } from "../../../http/middleware.js";
import { markHandled } from "../../../runtime/mark-handled.js";
import { tracing } from "../../../tracing/tracing.js";
import type { PageRequest } from "../protocol/page-request.js";
import { PartialFilter } from "./partial-filter.js";
import { Prop } from "./prop.js";
import { collectMetadata, type MarkOutcome, type Marks, type PropMetadata } from "./prop-marks.js";

export type PropTable = Readonly<Record<string, unknown>>;

export interface ResolvedProps {
  readonly props: PropTable;
  readonly metadata: PropMetadata;
}

const log = tracing.target("framework::pages");

/** The bounds of the search for functions in one value: the number of objects, and their depth. A larger value counts as data. */
const MAX_OBJECTS = 100_000;
const MAX_DEPTH = 32;
/** The most objects with functions in a page: functions that return functions without an end are a mistake. */
const MAX_TABLES = 100_000;
/** A function may return a prop, and that prop may hold a function: deeper nesting is a mistake. */
const MAX_UNWRAPPED = 2;

/** Where a value belongs: a member of an object, and the path of it. */
interface Place {
  readonly out: Record<string, unknown>;
  readonly key: string;
  readonly path: string;
  /** True inside an object that a function returned. The request's list of props does not filter it. */
  readonly isFree: boolean;
  readonly marks: Marks;
  readonly depth: number;
  readonly within: Enclosing | undefined;
  readonly unwrapped: number;
}

/** An object that is being resolved, and those around it. */
interface Enclosing {
  readonly table: PropTable;
  readonly outer: Enclosing | undefined;
}

type Around = Pick<Place, "path" | "isFree" | "marks" | "depth" | "within">;

/** @throws what the function of a prop throws, or the reason of `ctx.signal` */
export function resolveProps(
  ctx: Context,
  visit: PageRequest,
  component: string,
  declared: PropTable,
): ResolvedProps | Promise<ResolvedProps> {
  return new PropsResolver(ctx, visit, component).resolve(declared);
}

class PropsResolver {
  private readonly filter: PartialFilter | undefined;
  private readonly waiting: Promise<void>[] = [];
  private tables = 0;

  constructor(
    private readonly ctx: Context,
    private readonly visit: PageRequest,
    component: string,
  ) {
    this.filter = PartialFilter.of(visit, component);
  }

  resolve(declared: PropTable): ResolvedProps | Promise<ResolvedProps> {
    const marks: Marks = [];
    const props = this.resolveMembers(declared, { path: "", isFree: false, marks, depth: 0, within: undefined });
    const done = (): ResolvedProps => ({ props, metadata: this.metadata(marks) });
    return this.waiting.length === 0 ? done() : this.waitForAll().then(done);
  }

  private metadata(marks: Marks): PropMetadata {
    return collectMetadata(marks, { visit: this.visit, filter: this.filter, clock: this.ctx.clock });
  }

  /** A function that resolves late may add further promises. The end of the request ends the wait. */
  private async waitForAll(): Promise<void> {
    const { signal } = this.ctx;
    signal.throwIfAborted();
    const stop = new AbortController();
    const aborted = new Promise<never>((_resolve, reject) => {
      // The reason is a FrameworkError.
      // oxlint-disable-next-line prefer-promise-reject-errors
      signal.addEventListener("abort", () => reject(signal.reason as Error), { signal: stop.signal });
    });
    try {
      for (let awaited = 0; awaited < this.waiting.length;) {
        const next = this.waiting.slice(awaited);
        awaited += next.length;
        await Promise.race([Promise.all(next), aborted]);
      }
    } finally {
      stop.abort();
    }
  }

  private resolveMembers(source: PropTable, around: Around): Record<string, unknown> {
    const { isFree, marks, within } = around;
    const depth = around.depth + 1;
    const out: Record<string, unknown> = {};
    for (const key of Object.keys(source)) {
      if (key === "__proto__") continue;
      const path = around.path === "" ? key : `${around.path}.${key}`;
      const value = source[key];
      if (!isData(value)) this.resolveMember(value, { out, key, path, isFree, marks, depth, within, unwrapped: 0 });
      else if (isFree || this.filter === undefined || this.filter.includes(path)) out[key] = value;
    }
    return out;
  }

  private resolveMember(value: unknown, place: Place): void {
    const { filter } = this;
    const isAlways = value instanceof Prop && value.settings.timing === "always";
    if (filter !== undefined && !place.isFree && !isAlways && !filter.includes(place.path)) return;
    if (value instanceof Prop) this.resolveProp(value, place);
    else this.resolveSource(value, undefined, place);
  }

  private resolveProp(prop: Prop<unknown>, place: Place): void {
    const withheld = this.filter === undefined ? this.findWithheldReason(prop, place.path) : undefined;
    if (withheld === undefined) this.resolveSource(prop.source, prop, place);
    else place.marks.push({ path: place.path, prop, outcome: withheld, value: undefined });
  }

  /** The reason why a visit of the whole page does not send the prop; `undefined` if it is sent. */
  private findWithheldReason({ settings }: Prop<unknown>, path: string): MarkOutcome | undefined {
    const { timing, once } = settings;
    if (timing === "always") return undefined;
    const isKnown = once !== undefined && !once.isFresh && this.visit.knownOnceProps.includes(once.key ?? path);
    if (isKnown) return "known";
    return timing === "optional" || timing === "deferred" ? "later" : undefined;
  }

  private resolveSource(source: unknown, prop: Prop<unknown> | undefined, place: Place): void {
    if (!isPropFunction(source) && !isPromise(source)) {
      this.resolveValue(source, prop, place, false);
      return;
    }
    const result = isPropFunction(source) ? this.callFunction(source) : source;
    if (isPromise(result)) this.resolveLater(toPromise(result), prop, place);
    else this.resolveValue(result, prop, place, true);
  }

  /** A function that throws fails like one that rejects, so that no promise of a later prop stays without a handler. */
  private callFunction(source: PropFunction): unknown {
    try {
      return source(this.ctx);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  private resolveLater(result: Promise<unknown>, prop: Prop<unknown> | undefined, place: Place): void {
    const marks: Marks = [];
    place.marks.push(marks);
    // The member keeps its position; JSON leaves it out if it stays undefined.
    place.out[place.key] = undefined;
    const settled = result.then(
      (value) => this.resolveValue(value, prop, { ...place, marks }, true),
      (thrown: unknown) => this.handleFailure(thrown, prop, { ...place, marks }),
    );
    this.waiting.push(markHandled(settled));
  }

  /** Only a deferred prop has a place on the page for its failure. */
  private handleFailure(thrown: unknown, prop: Prop<unknown> | undefined, { path, marks }: Place): void {
    if (prop?.settings.isRescued !== true || this.filter === undefined || this.ctx.isAbandoned) throw thrown;
    log.error("deferred prop failed", { prop: path, ...describeThrown(thrown) });
    marks.push({ path, prop, outcome: "rescued", value: undefined });
  }

  private resolveValue(value: unknown, prop: Prop<unknown> | undefined, place: Place, isComputed: boolean): void {
    if (isComputed && value instanceof Prop) {
      if (place.unwrapped >= MAX_UNWRAPPED) throw new TypeError(`the prop ${place.path} is a prop that returns props`);
      this.resolveProp(value, { ...place, unwrapped: place.unwrapped + 1, isFree: true });
      return;
    }
    const { out, key, path, marks } = place;
    if (isComputed && typeof value === "function")
      throw new TypeError(`the prop ${path} is a function that returns a function`);
    const around = { ...place, isFree: place.isFree || isComputed || prop !== undefined };
    out[key] = this.isTable(value, around)
      ? this.resolveMembers(value, { ...around, within: enclose(value, place) })
      : value;
    if (prop !== undefined) marks.push({ path, prop, outcome: "sent", value: out[key] });
  }

  /** Whether the value has members that are filtered or called. Any other value is sent as it is. */
  private isTable(value: unknown, { isFree, depth, path }: Around): value is PropTable {
    if (!isLiteral(value) || depth > MAX_DEPTH) return false;
    if (this.filter !== undefined && !isFree) return true;
    if (!containsFunctions(value, depth, { left: MAX_OBJECTS })) return false;
    if (++this.tables > MAX_TABLES) throw new TypeError(`the prop ${path} returns functions without an end`);
    return true;
  }
}

/** @throws TypeError for an object that holds itself, which would have no end */
function enclose(table: PropTable, { within, path }: Place): Enclosing {
  for (let around = within; around !== undefined; around = around.outer)
    if (around.table === table) throw new TypeError(`the prop ${path} is an object that holds itself`);
  return { table, outer: within };
}

function containsFunctions(table: PropTable, depth: number, objects: { left: number }): boolean {
  if (--objects.left < 0 || depth > MAX_DEPTH) return false;
  for (const key of Object.keys(table)) {
    const value = table[key];
    if (typeof value === "function" || value instanceof Prop || isPromise(value)) return true;
    if (isLiteral(value) && containsFunctions(value, depth + 1, objects)) return true;
  }
  return false;
}

type PropFunction = (ctx: Context) => unknown;

/** The types of `page()` let no other function into the props. */
function isPropFunction(source: unknown): source is PropFunction {
  return typeof source === "function";
}

/** Whether the value is sent as it is. Lists are, because most of them are data. */
function isData(value: unknown): boolean {
  return (typeof value !== "object" && typeof value !== "function") || value === null || Array.isArray(value);
}

/** An object literal without a custom JSON form. @internal */
export function isLiteral(value: unknown): value is PropTable {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return typeof (value as { readonly toJSON?: unknown }).toJSON !== "function";
}
