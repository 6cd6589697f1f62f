/** What every endpoint has, whatever its path: the part of it that is data. */
import type { Method } from "./method.js";

export interface AnyEndpoint {
  readonly method: Method;
  /** The template as written; in a table with the prefix of the table. */
  readonly path: string;
  /** Dotted, unique in the application; `undefined` where nobody asks for its URL by name. */
  readonly name: string | undefined;
  readonly pages: readonly string[];
}

/** A class, as decorators and the container see it. */
export type AnyClass = abstract new (...args: never[]) => object;
