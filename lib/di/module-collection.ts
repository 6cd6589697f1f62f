/**
 * Collects the modules of an application, from the root along the imports, each once. Checks the lists of every module, and fills its
 * scope.
 */
import { findForeignCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { depthFirst } from "./depth-first.js";
import { moduleCycle, notAModule, notAnEvent, notAProvider, unknownExport } from "./diagnostics.js";
import { ModuleScope, type ApplicationScope } from "./module-scope.js";
import { findModuleDefinition } from "./module.js";
import { Binding, toBinding } from "./provide.js";
import { isInjectionToken, describeToken } from "./token.js";
import { isClass, type Class } from "../runtime/class.js";

/** Returns the modules in the order in which their providers are built, imports first. Fills the scopes of `application`. */
export function collectModules(
  root: Class,
  application: ApplicationScope,
  diagnostics: Diagnostic[],
): readonly ModuleScope[] {
  const scopes = new Map<unknown, ModuleScope>();
  const enter = (value: unknown, where: string): ModuleScope | undefined => {
    const scope = scopes.get(value) ?? createScope(value, application);
    if (scope === undefined) diagnostics.push(notAModule(value, where));
    else scopes.set(value, scope);
    return scope;
  };
  const top = enter(root, "the root of the application");
  if (top === undefined) return [];
  const { preorder, postorder, cycles } = depthFirst([top], (scope) => addImports(scope, enter));
  diagnostics.push(...cycles.map(moduleCycle));
  application.root = top;
  application.modules = preorder;
  for (const scope of preorder) {
    addProviders(scope, diagnostics);
    checkEvents(scope, diagnostics);
  }
  for (const scope of preorder) checkExports(scope, diagnostics);
  return postorder;
}

function createScope(value: unknown, application: ApplicationScope): ModuleScope | undefined {
  const definition = findModuleDefinition(value);
  return definition === undefined || !isClass(value) ? undefined : new ModuleScope(value, definition, application);
}

function addImports(
  scope: ModuleScope,
  enter: (value: unknown, where: string) => ModuleScope | undefined,
): readonly ModuleScope[] {
  for (const [index, value] of scope.definition.imports.entries()) {
    const imported = enter(value, `import ${index + 1} of ${scope.name}`);
    if (imported !== undefined) scope.imports.push(imported);
  }
  return scope.imports;
}

function addProviders(scope: ModuleScope, diagnostics: Diagnostic[]): void {
  for (const [index, entry] of scope.definition.providers.entries()) {
    const binding = toBinding(entry);
    const fault = checkBinding(binding, `provider ${index + 1} of ${scope.name}`);
    if (fault === undefined) scope.provide(binding);
    else diagnostics.push(fault);
  }
  for (const [index, entry] of scope.definition.controllers.entries()) {
    if (!isClass(entry)) diagnostics.push(notAProvider(entry, `controller ${index + 1} of ${scope.name}`));
  }
}

function checkEvents({ definition, name }: ModuleScope, diagnostics: Diagnostic[]): void {
  for (const [index, entry] of definition.events.entries()) {
    const where = `event ${index + 1} of ${name}`;
    const fault = isEvent(entry) ? findForeignCopy(entry, where) : notAnEvent(entry, where);
    if (fault !== undefined) diagnostics.push(fault);
  }
}

/** A class has a name too. */
function isEvent(entry: unknown): boolean {
  return typeof entry === "object" && entry !== null && "name" in entry && typeof entry.name === "string";
}

/** The fault of a binding, if it has one. Only a caller without types, or a class that is not loaded yet, causes one. */
export function checkBinding(binding: unknown, where: string): Diagnostic | undefined {
  if (!(binding instanceof Binding)) return notAProvider(binding, where);
  const { token, source } = binding;
  if (!isInjectionToken(token)) return notAProvider(token, where);
  if (findModuleDefinition(token) !== undefined) {
    return notAProvider(token, where, `${describeToken(token)} is a module: it belongs under imports`);
  }
  if (source.kind === "class" && !isClass(source.implementation)) return notAProvider(source.implementation, where);
  if (source.kind === "factory" && typeof source.factory !== "function") return notAProvider(source.factory, where);
  return undefined;
}

function checkExports(scope: ModuleScope, diagnostics: Diagnostic[]): void {
  for (const entry of scope.definition.exports) {
    const isKnown = isInjectionToken(entry) && (isImported(scope, entry) || scope.findLocal(entry) !== undefined);
    if (!isKnown) diagnostics.push(unknownExport(entry, scope.name, findModuleDefinition(entry) !== undefined));
  }
}

function isImported({ imports }: ModuleScope, entry: unknown): boolean {
  return imports.some(({ module }) => module === entry);
}
