/**
 * The props of a component as a value, for an application that needs its contracts at run time: in development the framework checks pages
 * against them, and other tools can read them. A contract as a value gives the same types as a declared contract.
 *
 * @example
 * export const linksIndex = contract("links/index", {
 *   links: shape.array(shape.object({ slug: shape.string, target: shape.string })),
 *   clicks: shape.optional(shape.array(shape.number)),
 * });
 * return page(linksIndex, { links: this.store.all() });
 */
import { createSetupError } from "../../errors/setup-error.js";

/** The type of a value, as JSON has it. `T` is the type in TypeScript, `IsOptional` whether a member may be absent. */
export interface Shape<out T = unknown, out IsOptional extends boolean = boolean> {
  readonly kind: "boolean" | "number" | "string" | "array" | "object" | "nullable";
  readonly isOptional: IsOptional;
  /** The shape of the items of an array, or of a nullable value. */
  readonly inner?: Shape;
  /** The shapes of the members of an object. */
  readonly members?: ShapeTable;
  /** Only in the type. */
  readonly type?: T;
}

export type ShapeTable = Readonly<Record<string, Shape>>;

/** The type of an object of shapes. */
export type TypeOfShapes<S extends ShapeTable> = {
  readonly [K in keyof S as S[K] extends Shape<unknown, true> ? never : K]: TypeOf<S[K]>;
} & {
  readonly [K in keyof S as S[K] extends Shape<unknown, true> ? K : never]?: TypeOf<S[K]>;
};

type TypeOf<S> = S extends Shape<infer T> ? T : never;

type Required<T> = Shape<T, false>;

/** The shapes for the props of a contract. */
export const shape = Object.freeze({
  boolean: createPlain<boolean>("boolean"),
  number: createPlain<number>("number"),
  string: createPlain<string>("string"),
  array: <T>(inner: Shape<T>): Required<readonly T[]> => ({ kind: "array", isOptional: false, inner }),
  object: <const S extends ShapeTable>(members: S): Required<TypeOfShapes<S>> => ({
    kind: "object",
    isOptional: false,
    members,
  }),
  nullable: <T>(inner: Shape<T>): Required<T | null> => ({ kind: "nullable", isOptional: false, inner }),
  /** A member that may be absent, so that its prop may be deferred. */
  optional: <T>(inner: Shape<T>): Shape<T, true> => ({ ...inner, isOptional: true }),
});

function createPlain<T>(kind: Shape["kind"]): Required<T> {
  return Object.freeze({ kind, isOptional: false });
}

/** The contract of one component. */
export interface PageContract<out T = unknown, out C extends string = string> {
  readonly component: C;
  readonly props: ShapeTable;
  /** Only in the type. */
  readonly type?: T;
}

/** @throws FrameworkError `E_PAGE_CONTRACT` for a component without a name, and for a prop whose name has a comma or a dot */
export function contract<const S extends ShapeTable, const C extends string>(
  component: C,
  props: S,
): PageContract<TypeOfShapes<S>, C> {
  const bad = Object.keys(props).find((name) => /[,.]/.test(name));
  if (component !== "" && bad === undefined) return Object.freeze({ component, props });
  const what = component === "" ? "a contract needs the name of a component" : `the prop "${bad}" has a comma or a dot`;
  throw createSetupError("E_PAGE_CONTRACT", `contract("${component}"): ${what}`);
}

/** The first path whose value does not fit, with the reason; `undefined` if all values fit. @param isWhole false if props may be missing */
export function findMisfit(
  props: ShapeTable,
  value: Readonly<Record<string, unknown>>,
  isWhole = true,
): string | undefined {
  for (const [name, expected] of Object.entries(props)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined) {
      if (isWhole && !expected.isOptional) return `${name} is missing`;
      continue;
    }
    const found = findShapeMisfit(expected, given);
    if (found !== undefined) return `${name}${found}`;
  }
  return undefined;
}

function findShapeMisfit(expected: Shape, given: unknown): string | undefined {
  const { kind, inner, members = {} } = expected;
  if (kind === "nullable") return given === null || inner === undefined ? undefined : findShapeMisfit(inner, given);
  if (kind === "array") {
    if (!Array.isArray(given) || inner === undefined) return ` is not an array`;
    return findFirst(given, (item, at) => {
      const found = findShapeMisfit(inner, item);
      return found === undefined ? undefined : `.${at}${found}`;
    });
  }
  if (kind !== "object") return typeof given === kind ? undefined : ` is not a ${kind}`;
  if (typeof given !== "object" || given === null || Array.isArray(given)) return " is not an object";
  const found = findMisfit(members, given as Readonly<Record<string, unknown>>);
  return found === undefined ? undefined : `.${found}`;
}

function findFirst(
  items: readonly unknown[],
  test: (item: unknown, at: number) => string | undefined,
): string | undefined {
  for (const [at, item] of items.entries()) {
    const found = test(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
