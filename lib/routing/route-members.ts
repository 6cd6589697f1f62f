/** The members of a collection or group as they may come from JavaScript: refused where they are written, which no finding could name. */
import { nameOf } from "../di/token.js";
import { FrameworkError } from "../errors/framework-error.js";

/** A copy; throws `E_ROUTES_INVALID` for what is no list, and for a member that cannot be one. */
export function membersOf<T>(given: readonly T[], isMember: (candidate: unknown) => boolean): T[] {
  if (!Array.isArray(given)) throw invalidRoutes(`${nameOf(given)} is no list of routes`);
  const at = given.findIndex((member) => !isMember(member));
  if (at >= 0) throw invalidRoutes(`member ${at + 1}, ${nameOf(given[at])}, is neither a Route nor a RouteGroup`);
  return [...given];
}

export function invalidRoutes(what: string): FrameworkError {
  return new FrameworkError(`${what}; undefined often means that two files import each other`, {
    code: "E_ROUTES_INVALID",
  });
}
