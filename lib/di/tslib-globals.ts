/**
 * tsyringe needs tslib, whose CommonJS form writes its helpers (`__extends`, `__decorate`, …) to the global object besides exporting
 * them. Importing the framework changes no global but `Reflect`, so what comes with tsyringe goes again: this file is imported before
 * tsyringe, and `dropTslibGlobals` is called after it. tslib itself uses its exports and does not miss them.
 *
 * Names that were global before, because the application brought tslib itself, stay.
 */
const present: ReadonlySet<string> = new Set(Object.keys(globalThis));

export function dropTslibGlobals(): void {
  for (const name of Object.keys(globalThis)) {
    if (name.startsWith("__") && !present.has(name)) Reflect.deleteProperty(globalThis, name);
  }
}
