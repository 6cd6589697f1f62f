/** A path or prefix as it may come from JavaScript, refused where it is written: whether a text is a path is found by `build()`. */
import { nameOf } from "../di/token.js";
import { FrameworkError } from "../errors/framework-error.js";

/** The text; throws `E_ROUTE_PATH` for anything else, which is often `undefined` out of files that import each other. */
export function pathText<P extends string>(given: P, where: string): P {
  if (typeof given === "string") return given;
  throw new FrameworkError(`${where} was given ${nameOf(given)} for a path: give a text`, { code: "E_ROUTE_PATH" });
}
