/** The diagnostics of constructor parameters: a type that is not a token at run time, and types that are not known at all. */
import { findForeignCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import {
  readParameterNames,
  type ConstructorParameter,
  type ConstructorShape,
  type NoTokenReason,
} from "./constructor.js";
import type { Provider } from "./provider.js";
import { describeToken } from "./token.js";

/** The types of the constructor's parameters are not known. */
export function unreadableConstructor(provider: Provider, target: object, shape: ConstructorShape): Diagnostic {
  const place = `constructor of ${describeToken(target)}, in ${provider.scope.name}`;
  const isInherited = shape.declaredBy !== target;
  const name = describeToken(shape.declaredBy);
  const where = isInherited ? `${place} (inherited from ${name})` : place;
  if (shape.unreadableBecause === "metadata dropped") return metadataDropped(name, where);
  return {
    code: "E_INJECTABLE_MISSING",
    what: `${name} has constructor parameters and no decorator, so the types of the parameters are not known`,
    where,
    fix:
      `give each parameter a default: store = inject(Store)${isInherited ? `, or give ${describeToken(target)} a constructor` : ""}; ` +
      `or decorate ${name} with @Injectable() where the compiler emits types, which it does for legacy decorators alone`,
  };
}

/** The setting of each tool for the metadata. */
const KEEP_METADATA =
  'set "emitDecoratorMetadata": true, which tsc and vitest on Vite 8 read, or "decoratorMetadata": true for swc; ' +
  "esbuild, tsx and Vite 7 have no such setting, and Node's own type stripping does not parse decorators; " +
  "or give each parameter a default, which needs no setting: store = inject(Store)";

function metadataDropped(name: string, where: string): Diagnostic {
  return {
    code: "E_METADATA_DROPPED",
    what: `${name} has a decorator, but the types of its constructor parameters are not known: the tool that compiled it dropped the decorator metadata`,
    where,
    fix: KEEP_METADATA,
  };
}

interface ReasonText {
  readonly code: string;
  readonly what: (found: string) => string;
  readonly fix: string;
}

const EXPLANATIONS: Readonly<Record<NoTokenReason, ReasonText>> = {
  "type-only": {
    code: "E_TYPE_ERASED",
    what: () => "its type is Function at run time, as for a class imported with `import type` or a function type",
    fix: "import the class, not its type; for a function use @Inject(token<…>(…))",
  },
  interface: {
    code: "E_TYPE_ERASED",
    what: () =>
      "its type is Object at run time, as for an interface, a union, unknown, or a class that was not loaded yet",
    fix: "import the class, not its type; instead of an interface inject an abstract class, or use @Inject(token<…>(…))",
  },
  undefined: {
    code: "E_TYPE_UNDEFINED",
    what: () =>
      "its type is undefined at run time: the class is used before it is defined, because two files import each other or the class stands further down",
    fix: "define the class first, or remove one of the two imports",
  },
  primitive: {
    code: "E_TYPE_PRIMITIVE",
    what: (found) => `its type ${found} does not say which value is meant`,
    fix: "use @Inject(token<…>(…)), or inject a class that holds the value",
  },
  standard: {
    code: "E_TYPE_ERASED",
    what: () => "standard decorators keep no types of parameters",
    fix: 'give it a default: store = inject(Store); or set "experimentalDecorators" and "emitDecoratorMetadata" for tsc',
  },
  "not a token": {
    code: "E_TOKEN_INVALID",
    what: (found) => `${found} is neither a class nor a token`,
    fix: "inject a class, or the result of token<…>(…)",
  },
};

/** The type of one parameter is not a token. */
export function parameterWithoutToken(
  provider: Provider,
  target: object,
  shape: ConstructorShape,
  parameter: ConstructorParameter,
): Diagnostic {
  const where = describeParameterPlace(provider, target, shape, parameter);
  const foreign = parameter.reason === "not a token" ? findForeignCopy(parameter.found, where) : undefined;
  if (foreign !== undefined) return foreign;
  const { code, what, fix } = EXPLANATIONS[parameter.reason ?? "not a token"];
  return {
    code,
    what: `constructor parameter ${parameter.position} of ${describeToken(target)} cannot be injected: ${what(describeToken(parameter.found))}`,
    where,
    fix,
  };
}

/** `LinksController, constructor parameter 1 (store), in ShopModule`. */
export function describeParameterPlace(
  provider: Provider,
  target: object,
  { declaredBy }: ConstructorShape,
  { position }: ConstructorParameter,
): string {
  const name = readParameterNames(declaredBy)[position - 1];
  const shownName = name === undefined ? "" : ` (${name})`;
  const inherited = declaredBy === target ? "" : ` of ${describeToken(declaredBy)}`;
  return `${describeToken(target)}, constructor parameter ${position}${shownName}${inherited}, in ${provider.scope.name}`;
}
