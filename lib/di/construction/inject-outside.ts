/**
 * The error of a call of `inject` where no container calls a constructor or a factory. The stack tells the cause, and each cause has one
 * sentence. In a bundle the frames of the framework cannot be told from those of the program, so there a call in a handler and a late call
 * have one sentence.
 */
import { describeTwoCopies } from "../../errors/copy.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { findPlace, isLibraryFrame, setupError } from "../../errors/setup-error.js";
import { describeToken } from "../token.js";

/**
 * The method that calls every constructor, in any copy of the package, and the place of the copy. A minifier changes the name of the class,
 * and source maps that of the method, but then they name the file.
 */
const BUILDER_FRAMES = [
  /at (?:\S+\.)?createProvided \((.+?)(?:lib\/di\/construction\/instances\.\w+)?:\d+:\d+\)/,
  /\((.+)lib\/di\/construction\/instances\.\w+:\d+:\d+\)/,
];
const NEW_FRAME = /^ {4}at (?:new (\S+)|(?:\S+\.)?<instance_members_initializer>)/;
const STATIC_FRAME = /<static_initializer>/;
const LOADER_FRAME = /[( ]node:internal\/modules\//;

/** @param frames above `inject`, innermost first */
export function createOutsideError(token: unknown, frames: readonly string[]): FrameworkError {
  const call = `inject(${describeToken(token)})`;
  const place = frames
    .flatMap((frame) => BUILDER_FRAMES.map((builder) => builder.exec(frame)?.[1]))
    .find((found) => found !== undefined);
  if (place !== undefined) {
    const { what, fix } = describeTwoCopies(
      `${call} is called in a constructor that another copy of the framework calls`,
      place,
    );
    return new FrameworkError(`${what}; fix: ${fix}`, { code: "E_TWO_COPIES" });
  }
  const error = new FrameworkError(`${call} ${explainCall(frames)}`, { code: "E_INJECT_OUTSIDE" });
  // A program that loads modules is starting.
  return frames.some((frame) => LOADER_FRAME.test(frame)) ? setupError(error, findPlace(frames)) : error;
}

function explainCall(frames: readonly string[]): string {
  const created = findCreatedClass(frames);
  if (created !== undefined) {
    return (
      `is called because the program itself calls new ${created}(): let the container create ${created}, ` +
      `pass the argument to new, or in a test call construct(${created}, …)`
    );
  }
  if (STATIC_FRAME.test(frames[0] ?? "") || frames.some((frame) => LOADER_FRAME.test(frame))) {
    return (
      "is called at module level or in a static member, before there is a container: " +
      "call it in the default of a constructor parameter or in a field of a class that a module lists"
    );
  }
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

/** The class of the outermost of the constructors that call `inject`; `undefined` if no constructor calls it. */
function findCreatedClass(frames: readonly string[]): string | undefined {
  const end = frames.findIndex((frame) => !NEW_FRAME.test(frame));
  const outermost = frames.slice(0, end === -1 ? frames.length : end).at(-1);
  return outermost === undefined ? undefined : (NEW_FRAME.exec(outermost)?.[1] ?? "the class");
}
