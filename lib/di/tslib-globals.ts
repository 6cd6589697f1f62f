/**
 * Takes tslib's helper functions off the global object. tsyringe needs tslib, whose CommonJS form writes `__extends`, `__decorate` and
 * others to the global object besides exporting them. Importing the framework changes no global but `Reflect`.
 *
 * `instance-store.ts` imports this file before tsyringe and calls `dropTslibGlobals` after it: the constant below must see the global
 * object as it was. Therefore this file cannot be merged into its importer. tslib itself uses its exports only.
 */

/** Names that the application brought itself, with a tslib of its own, stay. */
const presentBefore: ReadonlySet<string> = new Set(Object.keys(globalThis));

export function dropTslibGlobals(): void {
  for (const name of Object.keys(globalThis)) {
    if (name.startsWith("__") && !presentBefore.has(name)) Reflect.deleteProperty(globalThis, name);
  }
}
