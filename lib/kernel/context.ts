/** Being written: the request's context. */
import type { Extensible, Extension } from "./extension.js";

export class Context<Names extends string = never> implements Extensible {
  readonly params!: Readonly<Record<Names, string>>;
  /** @internal */
  extensions: Map<Extension<unknown>, unknown> | undefined;
}
