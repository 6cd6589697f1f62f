/**
 * The error of a call of `inject` where no container calls a constructor or a factory. Where the stack proves a cause, the message names it.
 * Tools differ in what they keep of a stack: bundles hide which frames are of the framework, Bun and Deno have no frames of a loader, and
 * Jest gives frames the names of the source map. Where nothing is proven, one sentence lists the causes.
 */
import { markSubject } from "../../errors/copy.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { findPlace, isLibraryFrame, setupError } from "../../errors/setup-error.js";
import { describeToken } from "../token.js";

/**
 * The method that calls every constructor and factory, in any copy of the package. A minifier changes the name of the class, and source maps
 * that of the method, but then they name the file.
 */
const BUILDER_FRAME = /\bcreateProvided \(|lib\/di\/construction\/instances\.\w+:/;
/** A constructor of the program, and not that of `Promise`, which calls its function at once. */
const NEW_FRAME = /^ {4}at new (\S+) \((?!<anonymous>)/;
/** A method, or the initialisers of fields, which Jest names as methods. */
const MEMBER_FRAME = /^ {4}at (?!Object\.[^<]|new |async )(?:\S+\.\S+|<instance_members_initializer>) /;
const STATIC_FRAME = /<static_initializer>/;
/** A function of the program with a name; that of a getter is `get name`. */
const FUNCTION_FRAME = /^ {4}at (?:[\w$]+\.)*((?:[gs]et )?[\w$]+)(?: \[as [^\]]+\])? \((?!<anonymous>)/;
/** Node's loaders, also that of the modules of a context, which Jest uses. */
const LOADER_FRAME = /[( ]node:internal\/(?:modules\/|vm\/module:)/;
/** Frames that are no cause: of the runtime, and of functions that wait for the program. */
const OUTER_FRAME = /^ {4}at async |[( ](?:node:|ext:|native:)/;

/** @param frames above `inject`, innermost first */
export function createOutsideError(token: unknown, frames: readonly string[]): FrameworkError {
  const call = `inject(${describeToken(token)})`;
  const isBuilding = frames.some((frame) => BUILDER_FRAME.test(frame));
  const reason = isBuilding ? IN_OTHER_CONTAINER : explainCall(frames);
  const error = new FrameworkError(`${call} ${reason}`, { code: isBuilding ? "E_TWO_COPIES" : "E_INJECT_OUTSIDE" });
  const place = findPlace(frames);
  // A container of another copy reports the error as its own fault, with the places of both.
  markSubject(error, place === undefined ? call : `${call} at ${place}`);
  // A program that loads modules is starting.
  return frames.some((frame) => LOADER_FRAME.test(frame)) ? setupError(error, place) : error;
}

const IN_OTHER_CONTAINER =
  "is of another copy of the framework than the container that builds the instance: " +
  "install the package once, and load it in one way";

const AT_MODULE_LEVEL =
  "is called at module level or in a static member, which belong to no container: " +
  "call it in the default of a constructor parameter or in a field of a class that a module lists";

const WITHOUT_CONSTRUCTOR =
  "is called where the container runs no constructor: at module level or in a static member, in a handler, after an await or in a callback, " +
  "or in a class that the program itself creates with new: call it in the default of a constructor parameter or in a field of a class that " +
  "a module lists, and in a test call construct(P, …) in place of new P()";

function explainCall(frames: readonly string[]): string {
  const created = findCreatedClass(frames);
  if (created !== undefined) return explainNew(created);
  if (STATIC_FRAME.test(frames[0] ?? "")) return AT_MODULE_LEVEL;
  const callerIndex = frames.findIndex((frame) => LOADER_FRAME.test(frame) || isLibraryFrame(frame));
  if (LOADER_FRAME.test(frames[callerIndex] ?? "")) return explainLoading(frames.slice(0, callerIndex));
  const areOfLibrary = frames.map(isLibraryFrame);
  if (areOfLibrary.includes(true)) {
    return (
      "is called in a handler or another function that the framework calls: " +
      "call it in the constructor or a field of the class, and use the field here"
    );
  }
  if (areOfLibrary.includes(undefined) || !isFunctionOfProgram(frames)) return WITHOUT_CONSTRUCTOR;
  return (
    "is called after an await or in a callback, when the container has left the constructor: " +
    "call it before, in the default of a constructor parameter or in a field, and use the value here"
  );
}

/** Whether the outermost function is one of the program: the body of a module has no name, and a test runner is a package. */
function isFunctionOfProgram(frames: readonly string[]): boolean {
  const outermost = frames.findLast((frame) => !OUTER_FRAME.test(frame)) ?? "";
  return getFunctionName(outermost) !== undefined && !/[\\/]node_modules[\\/]/.test(outermost);
}

/** Source maps of Jest name each frame by the function that it calls, the innermost `inject`. */
function getFunctionName(frame: string): string | undefined {
  const name = FUNCTION_FRAME.exec(frame)?.[1];
  return name === "inject" ? undefined : name;
}

/** @param frames those of the program, which a module causes that is being loaded */
function explainLoading(frames: readonly string[]): string {
  const name = frames.map(getFunctionName).find((found) => found !== undefined);
  if (name === undefined) return AT_MODULE_LEVEL;
  if (/^[gs]et /.test(name) || /\binject \(/.test(frames[0] ?? "")) return WITHOUT_CONSTRUCTOR;
  return (
    `is called in ${name}(), which a module calls while it loads, and no container calls: ` +
    `call it in a constructor or a field of a class that a module lists, and pass the value to ${name}()`
  );
}

/** The class of the outermost of the constructors that call `inject`, directly or by a method; `undefined` if no constructor calls it. */
function findCreatedClass(frames: readonly string[]): string | undefined {
  const isOfConstructor = (frame: string, at: number) =>
    NEW_FRAME.test(frame) || (MEMBER_FRAME.test(frame) && NEW_FRAME.test(frames[at + 1] ?? ""));
  const end = frames.findIndex((frame, at) => !isOfConstructor(frame, at));
  const outermost = frames.slice(0, end === -1 ? frames.length : end).at(-1);
  return outermost && NEW_FRAME.exec(outermost)?.[1];
}

/** @param created the name of the class, of which Jest and a class without a name leave nothing */
function explainNew(created: string): string {
  const isNamed = /^[\w$.]+$/.test(created) && created !== "inject";
  const [call, name, test] = isNamed
    ? [`calls new ${created}()`, created, `${created}, …`]
    : ["creates the class with new", "it", "P, …"];
  return (
    `is called because the program itself ${call}: let the container create ${name}, ` +
    `pass the argument to new, or in a test call construct(${test})`
  );
}
