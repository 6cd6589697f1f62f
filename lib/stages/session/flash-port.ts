/**
 * The flash of a request as the stages see it: messages, texts, errors and old input that one request leaves for the next page of the same
 * visitor. Pages and redirects import this port, which loads no session; the session stage sets the implementation. Applications use
 * `Flash.of(ctx)`.
 *
 * Values that a page has taken are deleted with the response that shows them. They stay for the next page if that response is a redirect, a
 * 409 or an error, has no body, or belongs to a request that no visitor sees: a prefetch (`Sec-Purpose`, `Purpose`) or a precognition.
 *
 * @example
 * const flash = FlashPort.find(ctx); // undefined without a session stage
 * const left = flash === undefined ? NO_FLASH : await flash.take();
 */
import { Extension, type Extensible } from "../../http/request/extension.js";
import type { FormFields } from "../../http/body/form-fields.js";

export const FLASH_LEVELS = ["success", "error", "warning", "info"] as const;

export type FlashLevel = (typeof FLASH_LEVELS)[number];

export interface FlashMessage {
  readonly level: FlashLevel;
  readonly message: string;
}

/** The faults of the fields of one form: the dotted path of a field, and the first message or all of them. */
export type FieldMessages = Readonly<Record<string, string | readonly string[]>>;

/** The bag of errors that were given without the name of a bag. */
export const DEFAULT_BAG = "default";

/** The flash of earlier requests. The objects have no prototype, because their names may come from a request. */
export interface FlashContent {
  readonly messages: readonly FlashMessage[];
  /** The texts of `redirect().with(key, value)`. */
  readonly data: Readonly<Record<string, string>>;
  /** By bag; one page may have several forms. */
  readonly errors: Readonly<Record<string, FieldMessages>>;
  /** The fields of the form that failed, without those that are named like a secret. */
  readonly input: FormFields;
  /** Signals between stages, which no application sees. */
  readonly marks: readonly string[];
}

function nothing(): Readonly<Record<string, never>> {
  return Object.freeze(Object.create(null) as Record<string, never>);
}

/** The flash if earlier requests left none: always this object, so that a caller can compare. */
export const NO_FLASH: FlashContent = Object.freeze({
  messages: Object.freeze([]),
  data: nothing(),
  errors: nothing(),
  input: nothing(),
  marks: Object.freeze([]),
});

export abstract class FlashPort {
  /** The flash of the request; `undefined` without a session stage. */
  static find(ctx: Extensible): FlashPort | undefined {
    return FlashOfRequest.find(ctx);
  }

  /**
   * The flash that earlier requests left. It stays. The result is a promise only if the store has to be called. It rejects with a 503 if
   * the store fails.
   */
  abstract peek(): FlashContent | Promise<FlashContent>;

  /** Like `peek`, but the flash is deleted with the response, if the response shows it to a visitor. */
  abstract take(): FlashContent | Promise<FlashContent>;

  /** Undoes `take`, for a stage whose page is not sent after all. */
  abstract putBack(): void;

  abstract addMessage(level: FlashLevel, message: string): void;

  abstract addData(key: string, value: string): void;

  /** Replaces the errors of the bag. Those above the size limit are dropped. */
  abstract addErrors(errors: FieldMessages, bag: string): void;

  /** Replaces the old input. Fields that are named like a secret, and those above the size limit, are dropped. */
  abstract addInput(fields: FormFields): void;

  /** Leaves a signal for a stage of the next request. */
  abstract addMark(name: string): void;
}

/** Set by the session stage. @internal */
export const FlashOfRequest = new Extension<FlashPort>("flash");
