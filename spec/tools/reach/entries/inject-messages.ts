/**
 * The messages of `inject` outside of a container, and the place of a fault of the report. A tool decides what a stack has. Tests and programs import this
 * file. Types and comments stand above the calls, so a tool that moves lines names a wrong one.
 */
import { Application, inject } from "@stagecraft/framework";

interface Row {
  readonly what: string;
  readonly message: string;
  readonly expected: RegExp;
}

class Store {}
class Fields {
  readonly store = inject(Store); // line 15
}
class Defaults {
  constructor(readonly store = inject(Store)) {}
}

const rows: Row[] = [];
const AT_MODULE_LEVEL = /at module level or in a static member/;

try {
  inject(Store);
} catch (error) {
  rows.push({ what: "module level", message: String(error), expected: AT_MODULE_LEVEL });
}

try {
  void class {
    static readonly store = inject(Store);
  };
} catch (error) {
  rows.push({ what: "a static member", message: String(error), expected: AT_MODULE_LEVEL });
}

function attempt(what: string, expected: RegExp, call: () => unknown): void {
  try {
    call();
    rows.push({ what, message: "no error", expected });
  } catch (error) {
    rows.push({ what, message: String(error), expected });
  }
}

attempt("new, with a field", /the program itself calls new Fields\(\)/, () => new Fields());
// Jest has the name of the function that is called in place of that of the class.
attempt("new", /the program itself (calls new Defaults\(\)|creates the class with new)/, () => new Defaults());

/** What differs from the expected messages. */
export function faultsOfInject(): readonly string[] {
  const reported: Row[] = [];
  try {
    Application.create().provide(Fields).build();
  } catch (error) {
    const { message } = error as Error;
    // Bun names no place of a field.
    const expected =
      "Bun" in globalThis ? /call 1 of inject, in/ : /call 1 of inject \(\S*inject-messages\.ts:15:\d+\), in/;
    reported.push({ what: "a field, in the report", message, expected });
  }
  const all = [...rows, ...reported];
  const wrong = all.filter(({ message, expected }) => !expected.test(message));
  const missing = all.length === 5 ? [] : [`${all.length} faults instead of 5`];
  return [...wrong.map(({ what, message }) => `${what}: ${message}`), ...missing];
}
