/**
 * What decorators record of methods, for both kinds of call. A compiler of legacy decorators passes the prototype and the name of the method.
 * A compiler of standard decorators passes the method and a context, and no class: then the record belongs to the function, and is found
 * wherever a class has that function under that name. So no class needs metadata, and no global symbol is added for it.
 *
 * @example
 * const records = new MethodRecords<Endpoint>();
 * records.add(toDecoratedMethod('Get("/")', target, second), endpoint); // in the decorator
 * records.getInherited(getClassChain(controller).map(({ prototype }) => prototype));
 */
import { isStandardContext, otherKind } from "../errors/bare-decorator.js";
import { createSetupError } from "../errors/setup-error.js";

/** The second argument of a decorator of a method: a name in a legacy call. */
export type MethodKey = string | symbol | DecoratorContext;

/** A method as its decorator sees it. */
export interface DecoratedMethod {
  /** The prototype, or the class of a static method; in a standard call the method. */
  readonly target: object;
  readonly key: string | symbol;
  readonly isStatic: boolean;
  /** The class; in a standard call the method. */
  readonly declaredBy: object;
  /** `Links.index`; in a standard call `index`. */
  readonly place: string;
}

/**
 * @param decorator as it is written: `Get("/")`
 * @throws FrameworkError `E_DECORATOR_KIND` for a standard call above a member that is no public method
 */
export function toDecoratedMethod(decorator: string, target: object, second: MethodKey): DecoratedMethod {
  if (isStandardContext(second)) return toStandardMethod(decorator, target, second);
  const isStatic = typeof target === "function";
  const declaredBy = isStatic ? target : target.constructor;
  return { target, key: second, isStatic, declaredBy, place: `${declaredBy.name}.${String(second)}` };
}

function toStandardMethod(decorator: string, target: object, context: DecoratorContext): DecoratedMethod {
  if (context.kind !== "method" || context.private) throw otherKind(decorator, context, "public method");
  const { static: isStatic } = context;
  // esbuild gives the name of `1() {}` as a number, which the type does not say.
  const name: PropertyKey = context.name;
  const key = typeof name === "number" ? String(name) : name;
  if (!isStatic)
    context.addInitializer(function (this: unknown) {
      if (!hasMember(Object(this), key, target))
        throw createSetupError("E_DECORATOR_ORDER", formatReplaced(decorator, key));
    });
  return { target, key, isStatic, declaredBy: target, place: String(key) };
}

/** Whether the object has the function itself, or inherits it, also below a method that overrides it. */
function hasMember(holder: object, key: string | symbol, method: object): boolean {
  return getPrototypeChain(holder).some((each) => findMethod(each, key) === method);
}

/** The object itself, and the objects that it inherits from, the base last. */
function getPrototypeChain(leaf: unknown): readonly object[] {
  const chain: object[] = [];
  for (let each = leaf; typeof each === "object" && each !== null; each = Object.getPrototypeOf(each)) chain.push(each);
  return chain;
}

function formatReplaced(decorator: string, key: string | symbol): string {
  return `@${decorator} has no effect: a decorator above it replaces the method ${String(key)}; write @${decorator} above that decorator`;
}

/** The values of methods, each list in the order in which decorators run: the lowest comes first. */
export class MethodRecords<T> {
  private readonly byTarget = new WeakMap<object, Map<string | symbol, readonly T[]>>();

  add({ target, key }: DecoratedMethod, value: T): void {
    const byKey = this.byTarget.get(target) ?? new Map<string | symbol, readonly T[]>();
    this.byTarget.set(target, byKey.set(key, [...(byKey.get(key) ?? []), value]));
  }

  /** @param holder the prototype that declares the method, or the class of a static method */
  getOwn(holder: object, key: string | symbol): readonly T[] {
    const method = findMethod(holder, key);
    const standard = (method && this.byTarget.get(method)?.get(key)) ?? [];
    return [...standard, ...(this.byTarget.get(holder)?.get(key) ?? [])];
  }

  /** @param holders from the base on; a method that one of them decorates again has only the values of that one. */
  getInherited(holders: readonly object[]): ReadonlyMap<string | symbol, readonly T[]> {
    return new Map(holders.flatMap((holder) => this.listOwn(holder)));
  }

  getOfInstance(instance: object): ReadonlyMap<string | symbol, readonly T[]> {
    const inherited = this.getInherited(getPrototypeChain(Object.getPrototypeOf(instance)).toReversed());
    // The members of the instance are not listed, because it may be a large value, such as bytes.
    return new Map([...inherited, ...(this.byTarget.get(instance) ?? [])]);
  }

  private listOwn(holder: object): readonly (readonly [string | symbol, readonly T[]])[] {
    const keys = new Set([...(this.byTarget.get(holder)?.keys() ?? []), ...Reflect.ownKeys(holder)]);
    return [...keys].map((key) => [key, this.getOwn(holder, key)] as const).filter(([, values]) => values.length > 0);
  }
}

/** Calls no getter. */
function findMethod(holder: object, key: string | symbol): object | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(holder, key)?.value;
  return typeof value === "function" ? value : undefined;
}
