/**
 * tsyringe, and the metadata of decorators, which it needs. Importing the framework changes no global but `Reflect`: `reflect-metadata`
 * completes it. tsyringe needs tslib, which writes its functions (`__extends`, `__decorate` and others) to the global object besides
 * exporting them; they are taken off again.
 *
 * In CommonJS, because an `import` of a package in CommonJS costs more than a `require`: Node parses the source of all its files a second
 * time, to find the names of the exports. For these two packages that was a quarter of the cost of importing the framework.
 */

/** Names that the application brought itself, with a tslib of its own, stay. */
const presentBefore: ReadonlySet<string> = new Set(Object.keys(globalThis));

// oxlint-disable-next-line import/no-unassigned-import
require("reflect-metadata");
import tsyringe = require("tsyringe");

for (const name of Object.keys(globalThis)) {
  if (name.startsWith("__") && !presentBefore.has(name)) Reflect.deleteProperty(globalThis, name);
}

/** A plain object: a tool that compiles this file to an import of `default` would find nothing in a module that is marked `__esModule`. */
const used: Pick<typeof tsyringe, "container"> = { container: tsyringe.container };

export = used;
