/**
 * `inject(Token)` asks the container for an instance, without decorators and without metadata, so that it works with every compiler. It
 * stands in the default of a constructor parameter, or in the initialiser of a field. It works while the container calls a constructor or
 * a factory, and nowhere else. A class that such a constructor creates with `new` asks with the visibility of that constructor's module.
 *
 * A field is set when its initialiser has run: a constructor of a base class that calls an overridden method does not see it yet.
 *
 * @example
 * class LinksController {
 *   constructor(private readonly store = inject(LinkStore)) {}
 * }
 * new LinksController(new FakeStore()); // in a test: a plain call
 */
import { listFrames } from "../../errors/setup-error.js";
import { createOutsideError } from "./inject-outside.js";
import type { InjectionToken } from "../token.js";

/** Resolves the tokens for the constructor or factory that the container is calling. */
export type InjectionContext = <T>(token: InjectionToken<T>) => T;

/** Set only while a constructor or factory runs, never across an `await`: two builds of one process cannot get each other's context. */
let current: InjectionContext | undefined;

/** Sets the context of the following calls of `inject`. The caller restores the result afterwards, in a `finally`. */
export function enterContext(context: InjectionContext | undefined): InjectionContext | undefined {
  const outer = current;
  current = context;
  return outer;
}

/**
 * The instance that a constructor parameter of this type would get in the same module.
 *
 * A missing, invisible or cyclic token is a fault of the start-up report. The constructor gets a placeholder for it, so that its other calls
 * are checked too; reading a member of the placeholder, or calling it, throws the fault. A constructor may therefore run in an application that does not start: it must
 * not have effects outside its object.
 *
 * @throws FrameworkError `E_INJECT_OUTSIDE` when the container calls no constructor and no factory.
 * @throws FrameworkError `E_TWO_COPIES` when the container of another copy of the package calls one, which reports both places.
 */
export function inject<T>(token: InjectionToken<T>): T {
  if (current === undefined) throw createOutsideError(token, readCallerFrames());
  return current(token);
}

const MAX_FRAMES = 50;

/**
 * The frames of the stack above `inject`, innermost first. V8 finds the function itself, so they are right in a bundle too. Where `inject`
 * has called a context, JavaScriptCore has removed its frame, and there are none.
 */
export function readCallerFrames(): readonly string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = MAX_FRAMES;
  const holder: { readonly stack?: unknown } = {};
  Error.captureStackTrace(holder, inject);
  Error.stackTraceLimit = stackTraceLimit;
  return listFrames(holder.stack);
}
