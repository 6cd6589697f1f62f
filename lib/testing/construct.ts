/**
 * Constructs one class for a unit test, with doubles in the place of all that it injects. For a class whose fields call `inject`: a class
 * that injects by constructor parameters needs no container, and its test calls `new LinksController(new FakeStore())`.
 *
 * @example
 * class LinksController {
 *   private readonly store = inject(LinkStore);
 * }
 * const controller = construct(LinksController, provide(LinkStore).useValue(new FakeStore()));
 */
import { inspect } from "../di/graph.js";
import type { Binding } from "../di/provide.js";
import { type Diagnostic, StartupError } from "../errors/diagnostic.js";
import { valueText } from "../errors/value-text.js";
import type { Class } from "../runtime/class.js";

/**
 * Every token needs a double, also those that an application has by default, such as `Clock`. Nothing is started or disposed of.
 *
 * @throws StartupError lists each token without a double, and each double that the class does not inject.
 */
export function construct<T>(target: Class<T>, ...doubles: readonly Binding[]): T {
  const name = valueText(target);
  const extras = (module: Class | undefined): readonly Class[] => (module === undefined ? [target] : []);
  try {
    return inspect({ name: `construct(${name})`, overrides: doubles, extras })
      .build()
      .get(target);
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    const diagnostics = error.diagnostics.map((each) => adviseDouble(each, name));
    const options = { head: `${name} cannot be constructed`, ...("cause" in error && { cause: error.cause }) };
    throw new StartupError(diagnostics, options);
  }
}

function adviseDouble(diagnostic: Diagnostic, name: string): Diagnostic {
  if (diagnostic.code !== "E_PROVIDER_MISSING") return diagnostic;
  return { ...diagnostic, fix: `pass a double: construct(${name}, provide(…).useValue(…))` };
}
