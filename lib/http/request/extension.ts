/**
 * A typed value of a request: one stage sets it, another stage or a handler reads it. Each extension is itself the key, so two extensions
 * never collide. Not for values of the whole application, which are injected.
 *
 * @example
 * const CurrentUser = new Extension<User>("CurrentUser");
 * CurrentUser.set(ctx, user);
 * CurrentUser.of(ctx).name; // throws if it was not set
 */
import { FrameworkError } from "../../errors/framework-error.js";

/** An object with extensions, for example a `Context`. */
export interface Extensible {
  /** The values by the number of their extension. The first `set` creates the array. @internal */
  extensions: unknown[] | undefined;
}

export class Extension<T> {
  // An application has a few extensions, all created when its modules load. For so few an array is the smallest and fastest table.
  static #count = 0;
  readonly #number = Extension.#count++;

  constructor(readonly name: string) {}

  set(carrier: Extensible, value: T): void {
    (carrier.extensions ??= [])[this.#number] = value;
  }

  /** The value; `undefined` if none was set. */
  find(carrier: Extensible): T | undefined {
    // Only `set` above writes this key, and it takes a T.
    return carrier.extensions?.[this.#number] as T | undefined;
  }

  /** The value. If none was set, throws an error with status 500 that names the extension. */
  of(carrier: Extensible): T {
    const value = this.find(carrier);
    if (value === undefined) {
      const cause = `no code has called ${this.name}.set(ctx, …)`;
      const fix = "put the middleware that does so before this code, or add its stage";
      throw new FrameworkError(`no ${this.name} on this request: ${cause}; ${fix}`, { code: "E_EXTENSION_MISSING" });
    }
    return value;
  }
}
