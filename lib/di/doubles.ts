/**
 * A test double for something nothing injects would pass a test that proves nothing: it is refused. What only a factory resolves is seen
 * when the factory runs, so that the last word falls after the build.
 */
import { isClass } from "./class.js";
import type { Inspection } from "./inspection.js";
import { Binding } from "./provide.js";
import type { ApplicationScope } from "./scope.js";
import type { Slot } from "./slot.js";

/** The slots of doubles that neither a constructor nor the framework asks for. */
export function idleDoubles(
  application: ApplicationScope,
  { doubles = [], collects = () => false }: Inspection,
  asked: ReadonlySet<Slot>,
): readonly Slot[] {
  const tokens = new Set(doubles.filter((double) => double instanceof Binding).map(({ token }) => token));
  const slots = [...application.bindings.values()].filter(({ token }) => tokens.has(token));
  return slots.filter((slot) => !asked.has(slot) && !isForFramework(slot, application, collects));
}

/** The framework asks by itself for its defaults and for the classes it collects; a class behind a token counts like the token. */
function isForFramework(
  { token }: Slot,
  application: ApplicationScope,
  collects: NonNullable<Inspection["collects"]>,
): boolean {
  if (application.defaults.has(token)) return true;
  const replaced = application.holders(token).map(({ own }) => own.get(token)?.source);
  const classes = replaced.flatMap((source) => (source?.kind === "class" ? source.implementation : []));
  return [token, ...classes].some((candidate) => isClass(candidate) && collects(candidate));
}
