/** The faults of constructor parameters, in words: types that name nothing at run time, and types that are not known at all. */
import type { Finding } from "../errors/diagnostic.js";
import type { Blank, ConstructorShape, Parameter } from "./constructor.js";
import { parameterNames } from "./parameter-names.js";
import type { Slot } from "./slot.js";
import { nameOf } from "./token.js";

export function unreadable(slot: Slot, target: object, shape: ConstructorShape): Finding {
  const place = `constructor of ${nameOf(target)}, in ${slot.scope.name}`;
  const inherited = shape.declaredBy !== target;
  const name = nameOf(shape.declaredBy);
  const where = inherited ? `${place} (inherited from ${name})` : place;
  return shape.unreadable === "undecorated"
    ? {
        code: "E_INJECTABLE_MISSING",
        what: `${name} takes constructor parameters and carries no decorator, so their types are not known`,
        where,
        cure: `decorate ${name} with @Injectable()${inherited ? `, or give ${nameOf(target)} a constructor of its own` : ""}`,
      }
    : {
        code: "E_METADATA_DROPPED",
        what: `${name} is decorated, and still the types of its constructor parameters are not known: the tool that compiled it drops decorator metadata`,
        where,
        cure: 'compile with tsc and "emitDecoratorMetadata": true (esbuild, tsx and vitest drop it), or put @Inject on every parameter',
      };
}

const BLANKS: Readonly<Record<Blank, { readonly code: string; readonly what: string; readonly cure: string }>> = {
  "type-only": {
    code: "E_TYPE_ERASED",
    what: "its type is Function at run time: a class imported with `import type`, or a function type",
    cure: "import the class, not its type; for a function use @Inject(token<…>(…))",
  },
  interface: {
    code: "E_TYPE_ERASED",
    what: "its type is Object at run time: an interface, a union, unknown, or a class that was not loaded yet",
    cure: "import the class, not its type: inject an abstract class instead of an interface, or use @Inject(token<…>(…))",
  },
  undefined: {
    code: "E_TYPE_UNDEFINED",
    what: "its type is undefined at run time: the class is used before it is defined (the files import each other, or it stands further down)",
    cure: "define the class first, or take one of the two file imports away",
  },
  primitive: {
    code: "E_TYPE_PRIMITIVE",
    what: "its type says nothing about which value is meant",
    cure: "use @Inject(token<…>(…)), or inject a class that carries the value",
  },
  "not a token": {
    code: "E_TOKEN_INVALID",
    what: "what stands there is neither a class nor a token",
    cure: "inject a class or what token<…>(…) returns",
  },
};

/** A parameter whose type names nothing that could be injected. */
export function blankParameter(slot: Slot, target: object, shape: ConstructorShape, parameter: Parameter): Finding {
  const { code, what, cure } = BLANKS[parameter.blank ?? "not a token"];
  const found = parameter.blank === "undefined" ? "" : ` (${nameOf(parameter.found)})`;
  return {
    code,
    what: `${nameOf(target)} cannot be given parameter ${parameter.position}${found}: ${what}`,
    where: placeOf(slot, target, shape, parameter),
    cure,
  };
}

/** `LinksController, constructor parameter 1 (store), in ShopModule`. */
export function placeOf(slot: Slot, target: object, { declaredBy }: ConstructorShape, { position }: Parameter): string {
  const name = parameterNames(declaredBy)[position - 1];
  const inherited = declaredBy === target ? "" : ` of ${nameOf(declaredBy)}`;
  return `${nameOf(target)}, constructor parameter ${position}${name === undefined ? "" : ` (${name})`}${inherited}, in ${slot.scope.name}`;
}
