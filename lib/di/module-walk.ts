/**
 * From the root module to every module that is reached from it, each once; checks what the modules list, and fills the scopes.
 */
import type { Finding } from "../errors/diagnostic.js";
import { isClass, type Class } from "./class.js";
import { depthFirst } from "./depth-first.js";
import { moduleCycle, notAModule, notAProvider, unknownExport } from "./findings.js";
import { moduleOf } from "./module.js";
import { Binding } from "./provide.js";
import { ModuleScope, type ApplicationScope } from "./scope.js";
import { isInjectionToken, nameOf } from "./token.js";

/** The modules in the order in which their providers are built: what is imported comes first. Puts the scopes into `application`. */
export function walkModules(root: Class, application: ApplicationScope, findings: Finding[]): readonly ModuleScope[] {
  const scopes = new Map<unknown, ModuleScope>();
  const enter = (value: unknown, where: string): ModuleScope | undefined => {
    const scope = scopes.get(value) ?? open(value, application);
    if (scope === undefined) findings.push(notAModule(value, where));
    else scopes.set(value, scope);
    return scope;
  };
  const top = enter(root, "the root of the application");
  if (top === undefined) return [];
  const walk = depthFirst([top], (scope) => importsOf(scope, enter));
  for (const path of walk.cycles) findings.push(moduleCycle(path));
  application.root = top;
  application.modules = walk.found;
  for (const scope of walk.found) fill(scope, findings);
  for (const scope of walk.found) checkExports(scope, findings);
  return walk.order;
}

function open(value: unknown, application: ApplicationScope): ModuleScope | undefined {
  const definition = moduleOf(value);
  return definition === undefined || !isClass(value) ? undefined : new ModuleScope(value, definition, application);
}

function importsOf(
  scope: ModuleScope,
  enter: (value: unknown, where: string) => ModuleScope | undefined,
): readonly ModuleScope[] {
  for (const [index, value] of scope.definition.imports.entries()) {
    const imported = enter(value, `import ${index + 1} of ${scope.name}`);
    if (imported !== undefined) scope.imports.push(imported);
  }
  return scope.imports;
}

function fill(scope: ModuleScope, findings: Finding[]): void {
  for (const [index, entry] of scope.definition.providers.entries()) {
    const binding = isClass(entry) ? new Binding(entry, { kind: "class", implementation: entry }) : entry;
    const fault = bindingFault(binding, `provider ${index + 1} of ${scope.name}`);
    if (fault === undefined) scope.provide(binding);
    else findings.push(fault);
  }
  for (const [index, entry] of scope.definition.controllers.entries()) {
    if (!isClass(entry)) findings.push(notAProvider(entry, `controller ${index + 1} of ${scope.name}`));
  }
}

/** What is wrong with a binding as it came from JavaScript, where types do not hold. */
export function bindingFault(binding: unknown, where: string): Finding | undefined {
  if (!(binding instanceof Binding)) return notAProvider(binding, where);
  const { token, source } = binding;
  if (!isInjectionToken(token)) return notAProvider(token, where);
  if (moduleOf(token) !== undefined)
    return notAProvider(token, where, `${nameOf(token)} is a module: it belongs under imports`);
  if (source.kind === "class" && !isClass(source.implementation)) return notAProvider(source.implementation, where);
  if (source.kind === "factory" && typeof source.factory !== "function") return notAProvider(source.factory, where);
  return undefined;
}

function checkExports(scope: ModuleScope, findings: Finding[]): void {
  for (const entry of scope.definition.exports) {
    const known = isInjectionToken(entry) && (isImported(scope, entry) || scope.local(entry) !== undefined);
    if (!known) findings.push(unknownExport(entry, scope.name, moduleOf(entry) !== undefined));
  }
}

function isImported({ imports }: ModuleScope, entry: unknown): boolean {
  return imports.some(({ module }) => module === entry);
}
