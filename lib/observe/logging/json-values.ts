/**
 * Writes one value as JSON, whatever it is: something valid comes out, complete but for depth, and nothing is thrown.
 */
import { types } from "node:util";
import { pathOf } from "../../http/request-target.js";
import { jsonString } from "./json-text.js";

/**
 * The objects that a log does not show as what they hold: errors, dates, URLs, bytes and boxed primitives are one word; an HTTP message
 * is its method, its path and its status.
 */
const UNREADABLEOfLeafText = "[unreadable]";

/**
 * What stands for `value` in a log; `undefined` where it is none of these. May throw whatever the value throws.
 * @param other How to show a cause that is an object but no error.
 */
export function specialValueOf(
  value: object,
  other: (cause: object) => string,
): string | number | bigint | boolean | null | undefined {
  if (isError(value)) return errorText(value, other);
  if (types.isDate(value)) return dateText(value);
  if (value instanceof URL) return value.href;
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
  return types.isBoxedPrimitive(value) ? unboxed(value) : undefined;
}

/** The members of Node's, Koa's and fetch's messages that are read; a message has some of them. */
interface Message {
  readonly method?: unknown;
  readonly url?: unknown;
  /** Of a request that a client of Node makes. */
  readonly path?: unknown;
  readonly status?: unknown;
  readonly statusCode?: unknown;
  /** The request that a response belongs to. */
  readonly req?: unknown;
}

/**
 * What stands for an HTTP message in a log, without its query, its headers and its body; `undefined` where `value` is none. May throw
 * what the value throws.
 */
export function httpMessageFields(value: object): object | undefined {
  if (!isMessage(value)) return undefined;
  const request = requestOf(value);
  const target = textIn(request?.url) ?? textIn(request?.path);
  return {
    method: textIn(request?.method),
    path: target === undefined ? undefined : pathOf(target),
    status: numberIn(value.status) ?? numberIn(value.statusCode),
  };
}

/** Asks which members there are and reads none: some getters of Koa's context hand out Node's objects, which has effects. */
function isMessage(value: object): value is Message {
  if (!("headers" in value || "getHeaders" in value)) return false;
  return "status" in value || "statusCode" in value || ("method" in value && ("url" in value || "path" in value));
}

/** `req` is read of a response only: that of a context has effects. */
function requestOf(message: Message): Message | undefined {
  if (typeof message.method === "string") return message;
  const { req } = message;
  return typeof req === "object" && req !== null ? req : undefined;
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function isError(value: object): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

function dateText(date: Date): string | null {
  return Number.isNaN(Date.prototype.getTime.call(date)) ? null : Date.prototype.toISOString.call(date);
}

function unboxed(value: object): string | number | bigint | boolean | undefined {
  if (types.isStringObject(value)) return String.prototype.valueOf.call(value);
  if (types.isNumberObject(value)) return Number.prototype.valueOf.call(value);
  if (types.isBooleanObject(value)) return Boolean.prototype.valueOf.call(value);
  return types.isBigIntObject(value) ? BigInt.prototype.valueOf.call(value) : undefined;
}

/** The error and its causes, to the bottom. */
function errorText(error: Error, other: (cause: object) => string): string {
  const seen = new Set<unknown>();
  const texts: string[] = [];
  let current: unknown = error;
  while (current !== undefined && current !== null && !seen.has(current)) {
    seen.add(current);
    const text = textOf(current, other);
    texts.push(text);
    current = text === UNREADABLEOfLeafText ? undefined : causeOf(current);
  }
  if (seen.has(current)) texts.push("[circular]");
  return texts.join(": caused by ");
}

function textOf(cause: unknown, other: (cause: object) => string): string {
  try {
    return typeof cause === "object" && cause !== null && !isError(cause) ? other(cause) : String(cause);
  } catch {
    return UNREADABLEOfLeafText;
  }
}

function causeOf(value: unknown): unknown {
  try {
    return typeof value === "object" && value !== null && isError(value) ? value.cause : undefined;
  } catch {
    return UNREADABLEOfLeafText;
  }
}

/**
 * The way from a field down to the object that is being written: keeps cycles, depth and sheer number in bounds.
 */
const MAX_DEPTH = 64;
/** Objects in one field. Shared references can unfold to more than any memory has. */
const MAX_OBJECTS = 1 << 20;

export const UNREADABLE = '"[unreadable]"';
const CIRCULAR = '"[circular]"';
const TOO_DEEP = '"[too deep]"';

export class Traversal {
  readonly #path: object[] = [];
  #depth = 0;
  #objects = 0;

  /** Goes one level down; or stays, and answers the mark for what cannot be entered. Every `enter` has its `leave`. */
  enter(value: object): string | undefined {
    const mark = this.#depth >= MAX_DEPTH && !this.#path.includes(value) ? TOO_DEEP : this.enterBeside(value);
    if (mark === undefined) this.#depth++;
    return mark;
  }

  leave(): void {
    this.#depth--;
    this.leaveBeside();
  }

  /** The same on the level where the walk is: for what an object gave in its own place. */
  enterBeside(value: object): string | undefined {
    if (this.#path.length > 0 && this.#path.includes(value)) return CIRCULAR;
    if (++this.#objects > MAX_OBJECTS) return UNREADABLE;
    this.#path.push(value);
    return undefined;
  }

  leaveBeside(): void {
    this.#path.pop();
  }
}

/** A value that is JSON already, and goes into the line as it is. */
export class RawJson {
  readonly #json: string;

  constructor(json: string) {
    this.#json = json;
  }

  /** The JSON, if `value` is one of these; asked without touching the value, which may be a proxy. */
  static of(value: object): string | undefined {
    return #json in value ? value.#json : undefined;
  }
}

/** An array longer than this is looked at for holes before it is walked. */
const LONG = 1 << 20;

/** How objects with keys are written; the keys are the business of the field writer. */
export interface ObjectWriter {
  /** Own enumerable members. */
  object(fields: object, walk: Traversal): string;
  /** The same for keys and values that come from elsewhere; a later entry for the same key wins. */
  entries(entries: readonly (readonly [name: string, value: unknown])[], walk: Traversal): string;
}

export class ValueWriter {
  readonly #objects: ObjectWriter;

  constructor(objects: ObjectWriter) {
    this.#objects = objects;
  }

  /** The JSON; `undefined` for what is omitted. */
  write(value: unknown, walk?: Traversal): string | undefined {
    switch (typeof value) {
      case "string":
        return jsonString(value);
      case "number":
        return Number.isFinite(value) ? `${value}` : "null";
      case "boolean":
      case "bigint":
        return `${value}`;
      case "object":
        return value === null ? "null" : this.#object(value, walk ?? new Traversal());
      default:
        return undefined;
    }
  }

  #object(value: object, walk: Traversal): string | undefined {
    try {
      const common = isCommon(value);
      const leaf = common ? undefined : this.#leaf(value, walk);
      return leaf ?? walk.enter(value) ?? this.#container(value, walk, common);
    } catch {
      return UNREADABLE;
    }
  }

  #leaf(value: object, walk: Traversal): string | undefined {
    const written = RawJson.of(value);
    if (written !== undefined) return written;
    const leaf = specialValueOf(value, (cause) => this.write(cause, walk) ?? UNREADABLE);
    return leaf === undefined ? undefined : this.write(leaf);
  }

  #container(value: object, walk: Traversal, common: boolean): string | undefined {
    try {
      const message = common ? undefined : httpMessageFields(value);
      if (message !== undefined) return this.#objects.object(message, walk);
      // Whether it is a function is what is being asked.
      const { toJSON } = value as { readonly toJSON?: unknown };
      if (typeof toJSON === "function") return this.#converted(value, toJSON.call(value, ""), walk);
      return common ? this.#common(value, walk) : this.#uncommon(value, walk);
    } finally {
      walk.leave();
    }
  }

  /** As with `JSON.stringify`, the answer of `toJSON` is written as it is, without asking it for its own. */
  #converted(value: object, answer: unknown, walk: Traversal): string | undefined {
    if (answer === value) return this.#uncommon(value, walk);
    if (typeof answer !== "object" || answer === null) return this.write(answer);
    return this.#leaf(answer, walk) ?? walk.enterBeside(answer) ?? this.#beside(answer, walk);
  }

  #beside(answer: object, walk: Traversal): string {
    try {
      return this.#uncommon((isCommon(answer) ? undefined : httpMessageFields(answer)) ?? answer, walk);
    } finally {
      walk.leaveBeside();
    }
  }

  #uncommon(value: object, walk: Traversal): string {
    if (types.isMap(value)) return this.#objects.entries(entriesOf(value), walk);
    return types.isSet(value) ? this.#array(elementsOf(value), walk) : this.#common(value, walk);
  }

  // Of an array that is mostly holes, only what it has is written: its length may be any number at no cost to the sender.
  #common(value: object, walk: Traversal): string {
    if (!Array.isArray(value)) return this.#objects.object(value, walk);
    const sparse = value.length > LONG && Object.keys(value).length < value.length;
    return sparse ? this.#objects.object(value, walk) : this.#array(value, walk);
  }

  #array(values: readonly unknown[], walk: Traversal): string {
    let text = "[";
    for (let i = 0; i < values.length; i++) text = text + (i === 0 ? "" : ",") + this.#element(values, i, walk);
    return `${text}]`;
  }

  #element(values: readonly unknown[], index: number, walk: Traversal): string {
    try {
      // What would be omitted as a member keeps its place in a list.
      return this.write(values[index], walk) ?? "null";
    } catch {
      return UNREADABLE;
    }
  }
}

/** Plain objects and arrays, which need no closer look. */
function isCommon(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

// The methods of the class itself: those of a subclass may do anything.
function entriesOf(map: ReadonlyMap<unknown, unknown>): (readonly [string, unknown])[] {
  const entries: (readonly [string, unknown])[] = [];
  Map.prototype.forEach.call(map, (value: unknown, key: unknown) => entries.push([nameOf(key), value]));
  return entries;
}

function elementsOf(set: ReadonlySet<unknown>): unknown[] {
  const elements: unknown[] = [];
  Set.prototype.forEach.call(set, (element: unknown) => elements.push(element));
  return elements;
}

function nameOf(key: unknown): string {
  try {
    return String(key);
  } catch {
    return "[unreadable]";
  }
}
