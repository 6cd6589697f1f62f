/**
 * tsyringe needs tslib, whose CommonJS form writes its helpers (`__extends`, `__decorate`, …) to the global object besides exporting
 * them. Importing the framework changes no global but `Reflect`, so these names are removed again: `instances.ts` imports this file
 * before tsyringe, and calls `dropTslibGlobals` after it. tslib itself uses its exports and does not need the globals.
 *
 * It is a file of its own because a module runs before the imports that follow it. Names that were global before, because the
 * application loaded tslib itself, stay.
 */
const present: ReadonlySet<string> = new Set(Object.keys(globalThis));

export function dropTslibGlobals(): void {
  for (const name of Object.keys(globalThis)) {
    if (name.startsWith("__") && !present.has(name)) Reflect.deleteProperty(globalThis, name);
  }
}
