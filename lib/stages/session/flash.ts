/**
 * Messages for the next page of the same visitor, and the values that `redirect()` leaves with `.with` and `.withErrors`. `take` reads and
 * deletes all of them; values that no page takes stay. They need the session stage.
 *
 * The values are deleted with a response that shows them. They stay for the next page if the response is a redirect, a 304, a 409 or an
 * error, has no body, or belongs to a prefetch or a precognition, which no visitor sees.
 *
 * @example
 * Flash.of(ctx).success("Link added.");
 * return redirect().route(links.index);
 *
 * const { messages, errors, input } = await Flash.of(ctx).take();
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { describeToken } from "../../di/token.js";
import type { Context } from "../../http/request/context.js";
import type { FormFields } from "../../http/body/form-fields.js";
import type { Extensible } from "../../http/request/extension.js";
import { isPromise } from "../../http/middleware.js";
import { findRefusal } from "../../http/failures/refuse.js";
import { markHandled } from "../../runtime/mark-handled.js";
import {
  dataField,
  errorsField,
  readFlash,
  INPUT_FIELD,
  isFlashField,
  isLevel,
  limitErrors,
  filterInput,
  markField,
  createMessageField,
} from "./flash-fields.js";
import {
  DEFAULT_BAG,
  FLASH_LEVELS,
  FlashOfRequest,
  FlashPort,
  type FieldMessages,
  type FlashContent,
  type FlashLevel,
} from "./flash-port.js";
import type { Session } from "./session.js";
import { checkFlashName, serializeValue } from "./session-value.js";
import type { Awaitable, StoredSession } from "./stores/session-store.js";

export class Flash extends FlashPort {
  /** The fields that a page of this request has taken. */
  private taken: Set<string> | undefined = undefined;

  // Not `private`: printing the object would show the headers of the request, and the values of the session.
  readonly #ctx: Context;
  readonly #session: Session;

  /** @internal */
  constructor(ctx: Context, session: Session) {
    super();
    this.#ctx = ctx;
    this.#session = session;
  }

  /**
   * The flash of the request.
   *
   * @throws FrameworkError `E_SESSION_MISSING` with status 500 without a session stage
   */
  static of(ctx: Extensible): Flash {
    const flash = FlashOfRequest.find(ctx);
    if (flash instanceof Flash) return flash;
    throw new FrameworkError("no flash on this request: it needs .session(new SessionConfig(key))", {
      code: "E_SESSION_MISSING",
    });
  }

  success(message: string): void {
    this.addMessage("success", message);
  }

  error(message: string): void {
    this.addMessage("error", message);
  }

  warning(message: string): void {
    this.addMessage("warning", message);
  }

  info(message: string): void {
    this.addMessage("info", message);
  }

  override peek(): Awaitable<FlashContent> {
    return this.read((content) => content);
  }

  override take(): Awaitable<FlashContent> {
    return this.read((content, names) => {
      if (names.length > 0) this.taken = new Set([...(this.taken ?? []), ...names]);
      return content;
    });
  }

  override putBack(): void {
    this.taken = undefined;
  }

  /** @throws TypeError for another level, and for a message that is not a text */
  override addMessage(level: FlashLevel, message: string): void {
    if (!isLevel(level)) throw new TypeError(`${describeToken(level)} is not a level: use ${FLASH_LEVELS.join(", ")}`);
    if (typeof message !== "string")
      throw new TypeError(`${describeToken(message)} is not the text of a message: give a string`);
    this.write(createMessageField(this.#ctx.clock.now()), { level, message });
  }

  /** @throws TypeError for a key that is longer than 256 characters or has a lone surrogate */
  override addData(key: string, value: string): void {
    checkFlashName(key);
    this.write(dataField(key), value);
  }

  /** @throws TypeError for a bag whose name is longer than 256 characters or has a lone surrogate */
  override addErrors(errors: FieldMessages, bag: string = DEFAULT_BAG): void {
    checkFlashName(bag);
    this.write(errorsField(bag), limitErrors(errors));
  }

  override addInput(fields: FormFields): void {
    const filtered = filterInput(fields);
    if (Object.keys(filtered).length > 0) this.write(INPUT_FIELD, filtered);
  }

  override addMark(name: string): void {
    this.write(markField(name), 1);
  }

  /** Deletes the taken values if the response shows them. Called before the session is saved. @internal */
  settle(): void {
    if (this.taken === undefined || !showsPage(this.#ctx)) return;
    for (const name of this.taken) this.#session.write(name, undefined);
    this.taken = undefined;
  }

  private write(field: string, value: unknown): void {
    this.#session.write(field, serializeValue(field, value));
    this.taken?.delete(field);
  }

  private read<T>(use: (content: FlashContent, names: readonly string[]) => T): Awaitable<T> {
    const record = this.#session.load();
    const found = (stored: StoredSession | null): T => {
      const values = this.#session.valuesWith(stored);
      const content = readFlash(values, (name) => this.taken?.has(name) === true);
      return use(content, [...values.keys()].filter(isFlashField));
    };
    return isPromise(record) ? markHandled(record.then(found)) : found(record);
  }
}

/** Whether the visitor sees the response as a page. */
function showsPage(ctx: Context): boolean {
  const { statusCode } = ctx.raw;
  if (statusCode === 204 || statusCode === 409 || statusCode >= 500) return false;
  if (statusCode >= 300 && statusCode < 400) return false;
  if (ctx.method === "HEAD" || findRefusal(ctx) !== undefined) return false;
  return !isUnseen(ctx);
}

/** A prefetch or a prerendering of the browser or of the page protocol's client, and a precognition. */
function isUnseen(ctx: Context): boolean {
  const { headers } = ctx.incoming;
  return (
    headers["precognition"] === "true" ||
    firstToken(headers["sec-purpose"]) === "prefetch" ||
    firstToken(headers["purpose"]) === "prefetch"
  );
}

/** `prefetch` of `prefetch;prerender`. */
function firstToken(value: string | readonly string[] | undefined): string {
  return (
    String(value ?? "")
      .split(/[;,]/, 1)[0]
      ?.trim()
      .toLowerCase() ?? ""
  );
}
