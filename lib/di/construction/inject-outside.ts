/**
 * The error of a call of `inject` where no container calls a constructor or a factory. The stack tells the cause, and each cause has one
 * sentence. Where the stack says nothing, as in a minified bundle, the sentence is that of a late call.
 */
import { describeTwoCopies } from "../../errors/copy.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { isLibraryFrame, setupError } from "../../errors/setup-error.js";
import { describeToken } from "../token.js";

const MAX_FRAMES = 50;

/** Class and method that call every constructor, in any copy of the package, and the place of the copy. */
const BUILDER_FRAME = /at InstanceBuilder\.\w+ \((.*?)(?:lib\/di\/construction\/instances\.\w+)?:\d+:\d+\)/;
const NEW_FRAME = /^ {4}at (?:new (\S+)|(?:\S+\.)?<instance_members_initializer>)/;
const STATIC_FRAME = /<static_initializer>/;
const LOADER_FRAME = /[( ]node:internal\/modules\//;

export function createOutsideError(token: unknown): FrameworkError {
  const frames = readCallerFrames();
  const call = `inject(${describeToken(token)})`;
  const place = frames.map((frame) => BUILDER_FRAME.exec(frame)?.[1]).find((found) => found !== undefined);
  if (place !== undefined) {
    const { what, fix } = describeTwoCopies(
      `${call} is called in a constructor that another copy of the framework calls`,
      place,
    );
    return new FrameworkError(`${what}; fix: ${fix}`, { code: "E_TWO_COPIES" });
  }
  const error = new FrameworkError(`${call} ${explainCall(frames)}`, { code: "E_INJECT_OUTSIDE" });
  // A program that loads modules is starting.
  return frames.some((frame) => LOADER_FRAME.test(frame)) ? setupError(error) : error;
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
  if (frames.some(isLibraryFrame)) {
    return (
      "is called in a handler or another function that the framework calls: " +
      "call it in the constructor or a field of the class, and use the field here"
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

/** The frames of the stack above `inject`, innermost first. */
function readCallerFrames(): readonly string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = MAX_FRAMES;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  const frames = stack.split("\n").filter((line) => line.startsWith("    at "));
  return frames.slice(frames.findIndex((frame) => /at inject \(/.test(frame)) + 1);
}
