/**
 * The error of a call of `inject` where no container calls a constructor or a factory. The stack tells the cause, and each cause has one
 * sentence. In a bundle the frames of the framework cannot be told from those of the program, so there a call in a handler and a late call
 * have one sentence.
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
const NEW_FRAME = /^ {4}at (?:new (\S+)|(?:\S+\.)?<instance_members_initializer>)/;
const STATIC_FRAME = /<static_initializer>/;
/** A function of the program with a name. */
const FUNCTION_FRAME = /^ {4}at (?:[\w$]+\.)*([\w$]+)(?: \[as [^\]]+\])? \((?!<anonymous>)/;
const LOADER_FRAME = /[( ]node:internal\/modules\//;

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

function explainCall(frames: readonly string[]): string {
  const created = findCreatedClass(frames);
  if (created !== undefined) {
    return (
      `is called because the program itself calls new ${created}(): let the container create ${created}, ` +
      `pass the argument to new, or in a test call construct(${created}, …)`
    );
  }
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
  if (areOfLibrary.includes(undefined)) {
    return (
      "is called in a handler, after an await or in a callback, when no constructor runs: " +
      "call it in the default of a constructor parameter or in a field, and use the value here"
    );
  }
  return (
    "is called after an await or in a callback, when the container has left the constructor: " +
    "call it before, in the default of a constructor parameter or in a field, and use the value here"
  );
}

/** @param frames those of the program, which a module causes that is being loaded */
function explainLoading(frames: readonly string[]): string {
  const name = frames.map((frame) => FUNCTION_FRAME.exec(frame)?.[1]).find((found) => found !== undefined);
  if (name === undefined) return AT_MODULE_LEVEL;
  return (
    `is called in ${name}(), which a module calls while it loads, and no container calls: ` +
    `call it in a constructor or a field of a class that a module lists, and pass the value to ${name}()`
  );
}

/** The class of the outermost of the constructors that call `inject`; `undefined` if no constructor calls it. */
function findCreatedClass(frames: readonly string[]): string | undefined {
  const end = frames.findIndex((frame) => !NEW_FRAME.test(frame));
  const outermost = frames.slice(0, end === -1 ? frames.length : end).at(-1);
  return outermost === undefined ? undefined : (NEW_FRAME.exec(outermost)?.[1] ?? "the class");
}
