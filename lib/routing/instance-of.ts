/** From a class to its one instance: the application's container, or plain construction where there is no application. */
import { FrameworkError } from "../errors/framework-error.js";
import type { AnyClass } from "./any-endpoint.js";

export type InstanceOf = <T extends object>(made: abstract new (...args: never[]) => T) => T;

/** Builds each class once, without arguments; throws `E_MIDDLEWARE_INJECTION` for one whose constructor wants some. */
export function constructing(): InstanceOf {
  const instances = new Map<AnyClass, object>();
  return <T extends object>(made: abstract new (...args: never[]) => T): T => {
    const known = instances.get(made) ?? construct(made);
    instances.set(made, known);
    // The map holds under each class what that class has constructed.
    return known as T;
  };
}

function construct(made: AnyClass): object {
  if (made.length > 0) {
    const detail = `${made.name} has constructor parameters, which only an application's container can fill`;
    throw new FrameworkError(detail, { code: "E_MIDDLEWARE_INJECTION" });
  }
  return Reflect.construct(made, []);
}
