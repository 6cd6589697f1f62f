/**
 * The calls of `inject` of one constructor or factory: what they got, and the faults. A call does not know the field or the parameter that
 * it is for, so a fault names the class, the number of the call, and file and line.
 */
import { findForeignCopy } from "../../errors/copy.js";
import type { Diagnostic } from "../../errors/diagnostic.js";
import { findPlace, isLibraryFrame, listFrames } from "../../errors/setup-error.js";
import type { Provider } from "../provider.js";
import { readCallerFrames } from "./inject.js";
import { describeToken, type InjectionToken } from "../token.js";

/** One call of `inject`. */
export interface Request {
  readonly token: InjectionToken;
  /** `undefined` for a faulty call. */
  readonly found: Provider | undefined;
}

/** How many constructors may need each other through `inject`: each of them nests in the one before, on the stack. Node 20 has space for 800. */
export const MAX_NESTED_REQUESTS = 500;

/** From this depth on, an overflow of the stack is taken for one of nested constructors, and not of a recursion in one of them. */
export const MIN_DEEP_REQUESTS = 50;

export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes("call stack");
}

/** `LinksController, call 2 of inject (file:///srv/shop/links.js:12:30), in ShopModule`. Called below `inject`, for the stack. */
export function describeRequestPlace({ source, scope, token }: Provider, number: number): string {
  const caller = findPlace(listRequestFrames());
  const line = caller === undefined ? "" : ` (${caller})`;
  const subject = source.kind === "class" ? describeToken(source.implementation) : `factory of ${describeToken(token)}`;
  return `${subject}, call ${number} of inject${line}, in ${scope.name}`;
}

/** The frames between `inject` and the container. Below the container are the places of others, which are none of the call. */
function listRequestFrames(): readonly string[] {
  const callers = readCallerFrames();
  const frames = callers.length > 0 ? callers : listProgramFrames(listFrames(new Error().stack));
  const end = frames.findIndex((frame) => isLibraryFrame(frame) === true || CONTAINER_FRAME.test(frame));
  return end === -1 ? frames : frames.slice(0, end);
}

/** From the innermost that is known to be none of the library; in a bundle there are none. */
function listProgramFrames(frames: readonly string[]): readonly string[] {
  const start = frames.findIndex((frame) => isLibraryFrame(frame) === false);
  return start === -1 ? [] : frames.slice(start);
}

const CONTAINER_FRAME = /[\\/]tsyringe[\\/]/;

export function invalidRequest(token: unknown): Omit<Diagnostic, "where"> {
  const foreign = findForeignCopy(token, "");
  return (
    foreign ?? {
      code: "E_TOKEN_INVALID",
      what: `inject(${describeToken(token)}) cannot be resolved: ${describeToken(token)} is neither a class nor a token`,
      fix: "inject a class, or the result of token<…>(…)",
    }
  );
}

export function nestedTooDeep(provider: Provider, depth: number): Omit<Diagnostic, "where"> {
  return {
    code: "E_INJECT_DEPTH",
    what: `${provider.label} is the end of ${depth} constructors that each need the next through inject`,
    fix: "list the last of them first among the providers of its module, or inject some of them by the types of their parameters",
  };
}

/**
 * The placeholder for the instance of a faulty request: reading or setting a member, a call, `new`, `in` and `instanceof` throw the fault. No
 * object can refuse to be compared, tested, stored or asked for its `typeof`.
 */
export function createPlaceholder(fault: Error): unknown {
  const refuse = (): never => {
    throw fault;
  };
  // A class, so that it may be called with `new` too.
  return new Proxy(class {}, new Proxy({}, { get: refuse }));
}
