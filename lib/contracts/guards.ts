/**
 * `@Guards(guard)` above a method of a provider: the method is the code of the guard. It gets the context and the arguments that an endpoint
 * gives the guard. It returns the values that the guard adds to the context of the handler, or throws, so that the handler does not run.
 *
 * @example
 * @Injectable()
 * class Accounts {
 *   constructor(private readonly users = inject(Users)) {}
 *
 *   @Guards(signedIn)
 *   async check(ctx: Context) {
 *     const user = await this.users.find(Session.of(ctx).get("user"));
 *     if (user === undefined) throw new UnauthorizedError();
 *     return { user };
 *   }
 * }
 */
import { recordDecorated } from "../di/unlisted.js";
import type { AnyGuard, GuardDefinition } from "../endpoints/guard.js";
import { isGuard } from "../endpoints/guard.js";
import { getClassChain, type AnyClass, type AnyHandler } from "../endpoints/handler.js";
import { MethodRecords, toDecoratedMethod } from "../endpoints/method-records.js";
import { requireParentheses } from "../errors/bare-decorator.js";
import { refuseForeignCopy } from "../errors/copy.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import type { Context } from "../http/request/context.js";
import { isClass, type Class } from "../runtime/class.js";

/** Every type, for a method that fits the guard; for others a text, with which the compiler ends its message. */
type FitsGuard<H extends AnyHandler, Adds, Args extends readonly unknown[], Needs> = [
  Context & Needs,
  ...Args,
] extends readonly [...Parameters<H>, ...unknown[]]
  ? FitsAdds<Awaited<ReturnType<H>>, Adds>
  : "the method asks for arguments that this guard does not take, or for values of guards that it does not name in after";

/** A result of the type `any` may be `undefined`, with which everybody passes. No other type makes 0 a member of its intersection with 1. */
type FitsAdds<R, Adds> = 0 extends 1 & R
  ? "this method returns any: give its result a type"
  : keyof Adds extends never
    ? [R] extends [void]
      ? unknown
      : "this guard adds no values to the context: its method returns nothing"
    : [R] extends [Adds]
      ? unknown
      : "the method does not return the values that this guard adds to the context";

/** The standard kind of call comes first, as in `Endpoint`. */
export interface GuardDecorator<Adds, Args extends readonly unknown[], Needs = unknown> {
  <H extends AnyHandler>(method: H & FitsGuard<H, Adds, Args, Needs>, context: ClassMethodDecoratorContext): void;
  <H extends AnyHandler>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<H> & FitsGuard<H, Adds, Args, Needs>,
  ): void;
}

const methods = new MethodRecords<GuardDefinition>();

/** The guards of the framework, of which an application uses some. */
const optional = new WeakSet<object>();

/** Guards with a provider that no route need have. @internal */
export function allowUnusedGuards(...definitions: readonly AnyGuard[]): void {
  for (const definition of definitions) optional.add(definition);
}

/**
 * @throws FrameworkError `E_DECORATOR_CALL` without parentheses, `E_GUARD` for a value that is no guard, `E_DECORATOR_KIND` above anything
 *   but a public instance method
 */
export function Guards<Adds, Args extends readonly unknown[], Needs = unknown>(
  guard: GuardDefinition<Adds, Args, Needs>,
  ...none: readonly never[]
): GuardDecorator<Adds, Args, Needs> {
  const given: unknown = guard;
  requireParentheses("Guards(guard)", ["method"], given, none);
  refuseForeignCopy(given);
  if (!isGuard(given)) {
    const used: unknown = Reflect.get(Object(given), "definition");
    const advice = isGuard(used) ? `, without arguments: @Guards(${used.name})` : `, not ${valueText(given)}`;
    throw createSetupError("E_GUARD", `@Guards needs the value of guard(…)${advice}`);
  }
  return (target: object, ...rest: readonly unknown[]): void => {
    const method = toDecoratedMethod(`Guards(${given.name})`, target, rest);
    recordDecorated(method.declaredBy, "@Guards");
    methods.add(method, given);
  };
}

/** The code of a guard: a method of an instance. */
export interface GuardProvider {
  readonly definition: GuardDefinition;
  readonly instance: object;
  readonly key: string | symbol;
  /** `Accounts.check`. */
  readonly place: string;
  readonly run: (ctx: Context, ...args: readonly unknown[]) => unknown;
}

/** An instance of an application, and the token that it is bound to. */
type Provided = readonly [token: unknown, instance: unknown];

/** A method with `@Guards`, without an instance. */
type GuardMethod = readonly [key: string | symbol, definition: GuardDefinition];

/** The guards of an application, found among its instances. */
export class GuardProviders {
  private readonly byDefinition = new Map<GuardDefinition, GuardProvider>();
  /** The guards of a class in whose place an object without the method is bound, with the reason. */
  private readonly incomplete = new Map<GuardDefinition, string>();
  readonly diagnostics: Diagnostic[] = [];

  constructor(provided: readonly Provided[]) {
    for (const [token, instance] of provided) {
      if (typeof instance !== "object" || instance === null) continue;
      const own = toPairs(methods.getOfInstance(instance));
      for (const each of own) this.add(toProvider(instance, instance.constructor.name, each));
      if (isClass(token)) this.addByName(token, instance, new Set(own.map(([, definition]) => definition)));
    }
  }

  find(definition: GuardDefinition): GuardProvider | undefined {
    return this.byDefinition.get(definition);
  }

  explainMissing(definition: GuardDefinition): Pick<Diagnostic, "what" | "fix"> {
    const reason = this.incomplete.get(definition);
    return {
      what: `the guard ${definition.name} has no provider${reason === undefined ? "" : `: ${reason}`}`,
      fix:
        reason === undefined
          ? "write @Guards above a method of a provider, and list its class in a module; a guard of the framework comes with a list of " +
            "bindings, such as ...authentication(…) or ...tokenVerification(…)"
          : "add the method; in a test to the double",
    };
  }

  /** A guard that no route uses may have been meant to protect one. */
  warnOfUnused(used: ReadonlySet<GuardDefinition>): readonly Warning[] {
    const unused = [...this.byDefinition.values()].filter(
      ({ definition }) => !used.has(definition) && !optional.has(definition),
    );
    if (unused.length === 0) return [];
    const guards = unused.map(({ definition, place }) => `${definition.name} of ${place}`);
    return [{ message: "a guard has a provider and no route has the guard: it protects nothing", fields: { guards } }];
  }

  /** An object in the place of the class, such as the double of a test, serves the guards of the class with its methods of the same names. */
  private addByName(token: Class, instance: object, own: ReadonlySet<GuardDefinition>): void {
    for (const each of listGuardMethods(token).filter(([, definition]) => !own.has(definition))) {
      const provider = toProvider(instance, token.name, each);
      if (hasMethod(instance, provider.key)) this.add(provider);
      else
        this.incomplete.set(
          provider.definition,
          `the object in the place of ${token.name} has no method ${String(provider.key)}`,
        );
    }
  }

  private addFirst(provider: GuardProvider): void {
    const { definition } = provider;
    const namesake = [...this.byDefinition.values()].find((each) => each.definition.name === definition.name);
    if (namesake !== undefined) this.diagnostics.push(namedTwice(provider, namesake));
    this.byDefinition.set(definition, provider);
  }

  private add(provider: GuardProvider): void {
    const { definition, instance, key } = provider;
    const other = this.byDefinition.get(definition);
    if (other === undefined) this.addFirst(provider);
    // One instance may be bound to several tokens.
    else if (other.instance !== instance || other.key !== key) this.diagnostics.push(providedTwice(provider, other));
  }
}

function namedTwice({ definition, place }: GuardProvider, other: GuardProvider): Diagnostic {
  return {
    code: "E_GUARD_TWICE",
    what: `two guards have the name ${definition.name}`,
    where: `${other.place} and ${place}`,
    fix: "give each guard a separate name; a module that two import specifiers name is loaded twice: name it by one",
  };
}

/** Whether the class, or one that it extends, has a method with `@Guards`. */
export function hasGuards(candidate: Class): boolean {
  return listGuardMethods(candidate).length > 0;
}

/** `@Guards` on a controller reads as protection and would be none. */
export function findGuardsOnController(controller: AnyClass): readonly Diagnostic[] {
  return listGuardMethods(controller).map(([key, { name }]) => ({
    code: "E_GUARD_ON_CONTROLLER",
    what: `@Guards(${name}) stands above a method of a controller, where it protects no route`,
    where: `${controller.name}.${String(key)}`,
    fix: "write the guard into the endpoint, guards: […], and @Guards above a method of a provider",
  }));
}

function listGuardMethods(candidate: AnyClass | Class): readonly GuardMethod[] {
  // A class builds objects.
  const chain = getClassChain(candidate as AnyClass);
  return toPairs(methods.getInherited(chain.map(({ prototype }) => prototype)));
}

function toPairs(records: ReadonlyMap<string | symbol, readonly GuardDefinition[]>): readonly GuardMethod[] {
  return [...records].flatMap(([key, definitions]) => definitions.map((definition) => [key, definition] as const));
}

function toProvider(instance: object, className: string, [key, definition]: GuardMethod): GuardProvider {
  return {
    definition,
    instance,
    key,
    place: `${className}.${String(key)}`,
    // Read at each call, so that a test may replace the method of an instance.
    run: (ctx, ...args) => getMethod(instance, key).call(instance, ctx, ...args),
  };
}

/** A double of the test kit throws where a member is read that it does not have. */
function hasMethod(instance: object, key: string | symbol): boolean {
  return Reflect.has(instance, key) && typeof Reflect.get(instance, key) === "function";
}

function getMethod(instance: object, key: string | symbol): GuardProvider["run"] {
  // `@Guards` decorates methods only, and the compiler has compared their parameters with the guard.
  return Reflect.get(instance, key) as GuardProvider["run"];
}

function providedTwice({ definition, place }: GuardProvider, other: GuardProvider): Diagnostic {
  return {
    code: "E_GUARD_TWICE",
    what: `the guard ${definition.name} has more than one provider`,
    where: `${other.place} and ${place}`,
    fix: "give each method a separate guard, or list the class in one module and export it",
  };
}
