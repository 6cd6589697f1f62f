/**
 * Loads tsyringe, and `reflect-metadata`, which it needs. `Reflect`, to which `reflect-metadata` adds functions, is the only global that an
 * import of the framework changes. tsyringe needs tslib, which exports its functions (`__extends`, `__decorate` and others) and also writes
 * them to the global object. This file removes these globals.
 *
 * In CommonJS, because an `import` of a package in CommonJS costs more than a `require`: Node parses the source of all its files a second
 * time, to find the names of the exports. For these two packages that was a quarter of the cost of importing the framework.
 */

/** The globals that stay: the application may have loaded another tslib. */
const presentBefore: ReadonlySet<string> = new Set(Object.keys(globalThis));

// oxlint-disable-next-line import/no-unassigned-import
require("reflect-metadata");
import tsyringe = require("tsyringe");

for (const name of Object.keys(globalThis)) {
  if (name.startsWith("__") && !presentBefore.has(name)) Reflect.deleteProperty(globalThis, name);
}

/** A plain object: tools that compile this file to an import of `default` find no `default` in a module that is marked `__esModule`. */
const used: Pick<typeof tsyringe, "container" | "instanceCachingFactory"> = {
  container: tsyringe.container,
  instanceCachingFactory: tsyringe.instanceCachingFactory,
};

export = used;
