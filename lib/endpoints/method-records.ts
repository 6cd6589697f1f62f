/**
 * What decorators record of methods, for both kinds of call. A compiler of legacy decorators passes the prototype and the name of the method.
 * A compiler of standard decorators passes the method and a context, and no class: then the record belongs to the function, and is found
 * wherever a class has that function under that name, or had it when its decorator ran. So no class needs metadata, and no global symbol is
 * added for it.
 *
 * @example
 * const records = new MethodRecords<Endpoint>();
 * records.add(toDecoratedMethod('Get("/")', target, rest), endpoint); // in the decorator
 * records.getInherited(getClassChain(controller).map(({ prototype }) => prototype));
 */
import { requirePlace } from "../errors/bare-decorator.js";
import { isStandardContext } from "../errors/decorator-place.js";
import { markDecorated } from "../errors/copy.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import { getOriginalMethod, hasOriginalMethods } from "../runtime/original-methods.js";

/** A method as its decorator sees it. */
export interface DecoratedMethod {
  /** The prototype; in a standard call the method. */
  readonly target: object;
  readonly key: string | symbol;
  /** The class; in a standard call the method. */
  readonly declaredBy: object;
}

/**
 * @param decorator as it is written: `Get("/")`
 * @param rest the arguments of its call after the target
 * @throws FrameworkError `E_DECORATOR_KIND` unless it stands above a public instance method; `E_DECORATOR_CALL` where it is called
 *   without one
 */
export function toDecoratedMethod(decorator: string, target: object, rest: readonly unknown[]): DecoratedMethod {
  const given: unknown = target;
  if (given === undefined && rest.length === 0)
    throw createSetupError(
      "E_DECORATOR_CALL",
      `@${decorator} is called without a method: write its value above a method without further parentheses`,
    );
  requirePlace(decorator, ["method"], target, rest);
  const [second] = rest;
  if (!isStandardContext(second)) return { target, key: toKey(second), declaredBy: target.constructor };
  const key = toKey(second.name);
  if (second.kind === "method")
    second.addInitializer(function (this: unknown) {
      const chain = getPrototypeChain(this);
      if (chain.some((each) => getOriginalMethod(each, key) === target)) return;
      throw createSetupError("E_DECORATOR_ORDER", formatReplaced(decorator, key, chain));
    });
  return { target, key, declaredBy: target };
}

/** esbuild gives the name of `1() {}` as a number, which the types do not say. */
function toKey(name: unknown): string | symbol {
  return typeof name === "symbol" ? name : String(name);
}

/** The object itself, and the objects that it inherits from, the base last. */
function getPrototypeChain(leaf: unknown): readonly object[] {
  const chain: object[] = [];
  for (let each = leaf; typeof each === "object" && each !== null; each = Object.getPrototypeOf(each)) chain.push(each);
  return chain;
}

function formatReplaced(decorator: string, key: string | symbol, chain: readonly object[]): string {
  // A decorator of the class runs before any code could assign to the prototype.
  const isStored = chain.some((each) => Object.hasOwn(each, key) && hasOriginalMethods(each));
  const assignment = isStored ? "" : ", or an assignment to the prototype";
  return (
    `@${decorator} has no effect: a decorator above it, or one of the class below @Controller or @Injectable()${assignment}, ` +
    `replaces the method ${String(key)}; write @${decorator} above the former, and @Controller or @Injectable() ` +
    `nearest to the class, below its other decorators`
  );
}

/** The values of methods, each list in the order in which decorators run: the lowest comes first. */
export class MethodRecords<T> {
  private readonly byTarget = new WeakMap<object, Map<string | symbol, readonly T[]>>();

  add({ target, key, declaredBy }: DecoratedMethod, value: T): void {
    // A standard decorator does not know the class.
    markDecorated(target, declaredBy === target ? String(key) : `${valueText(declaredBy)}.${String(key)}`);
    const byKey = this.byTarget.get(target) ?? new Map<string | symbol, readonly T[]>();
    this.byTarget.set(target, byKey.set(key, [...(byKey.get(key) ?? []), value]));
  }

  /** @param holder the prototype that declares the method */
  getOwn(holder: object, key: string | symbol): readonly T[] {
    const method = getOriginalMethod(holder, key);
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
