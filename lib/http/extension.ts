/**
 * A typed value that one stage leaves on the request and another reads: the framework's form of "request extensions".
 * Each extension is its own key, so two of them can never collide.
 *
 * @example
 * const CurrentUser = new Extension<User>("CurrentUser");
 * CurrentUser.set(ctx, user);
 * CurrentUser.of(ctx).name; // throws where no one has set it
 */
import { FrameworkError } from "../errors/framework-error.js";

/** Whatever carries extensions; a `Context` does. */
export interface Extensible {
  /** @internal Made on the first `set`; by the number of the extension. */
  extensions: unknown[] | undefined;
}

export class Extension<T> {
  // There are a handful of them, made when modules load: an array is the smallest table, and the fastest.
  static #count = 0;
  readonly #number = Extension.#count++;

  constructor(readonly name: string) {}

  set(carrier: Extensible, value: T): void {
    (carrier.extensions ??= [])[this.#number] = value;
  }

  /** The value, or `undefined` where none was set. */
  find(carrier: Extensible): T | undefined {
    // The only writer of this key is `set` above, which takes a T.
    return carrier.extensions?.[this.#number] as T | undefined;
  }

  /** The value; where none was set, a 500 that names the extension. */
  of(carrier: Extensible): T {
    const value = this.find(carrier);
    if (value === undefined) {
      throw new FrameworkError(`no ${this.name} on this request: the stage that sets it is off`, {
        code: "E_EXTENSION_MISSING",
      });
    }
    return value;
  }
}
