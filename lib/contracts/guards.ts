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
import type { GuardDefinition } from "../endpoints/guard.js";
import { isGuard } from "../endpoints/guard.js";
import type { AnyHandler } from "../endpoints/handler.js";
import { MethodRecords, toDecoratedMethod } from "../endpoints/method-records.js";
import { requireParentheses } from "../errors/bare-decorator.js";
import { refuseForeignCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { createSetupError } from "../errors/setup-error.js";
import { valueText } from "../errors/value-text.js";
import type { Context } from "../http/request/context.js";

/** Every type, for a method that fits the guard; for others a text, with which the compiler ends its message. */
type FitsGuard<H extends AnyHandler, Adds, Args extends readonly unknown[]> =
  [Context, ...Args] extends Parameters<H>
    ? Awaited<ReturnType<H>> extends Adds
      ? unknown
      : "the method does not return the values that this guard adds to the context"
    : Parameters<H> extends readonly [unknown?]
      ? Awaited<ReturnType<H>> extends Adds
        ? unknown
        : "the method does not return the values that this guard adds to the context"
      : "the method asks for arguments that this guard does not take";

/** The standard kind of call comes first, as in `Endpoint`. */
export interface GuardDecorator<Adds, Args extends readonly unknown[]> {
  <H extends AnyHandler>(method: H & FitsGuard<H, Adds, Args>, context: ClassMethodDecoratorContext): void;
  <H extends AnyHandler>(
    target: object,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<H> & FitsGuard<H, Adds, Args>,
  ): void;
}

const methods = new MethodRecords<GuardDefinition>();

/**
 * @throws FrameworkError `E_DECORATOR_CALL` without parentheses, `E_GUARD` for a value that is no guard, `E_DECORATOR_KIND` above anything
 *   but a public instance method
 */
export function Guards<Adds, Args extends readonly unknown[]>(
  guard: GuardDefinition<Adds, Args>,
  ...none: readonly never[]
): GuardDecorator<Adds, Args> {
  const given: unknown = guard;
  requireParentheses("Guards(guard)", ["method"], given, none);
  refuseForeignCopy(given);
  if (!isGuard(given))
    throw createSetupError("E_GUARD", `@Guards needs the value of guard(…), not ${valueText(given)}`);
  return (target: object, ...rest: readonly unknown[]): void => {
    const method = toDecoratedMethod("Guards(guard)", target, rest);
    recordDecorated(method.declaredBy, "@Guards");
    methods.add(method, given);
  };
}

/** The code of a guard: a method of an instance. */
export interface GuardProvider {
  readonly definition: GuardDefinition;
  /** `Accounts.check`. */
  readonly place: string;
  readonly run: (ctx: Context, ...args: readonly unknown[]) => unknown;
}

/** The guards of an application, found among its instances. */
export class GuardProviders {
  private readonly byDefinition = new Map<GuardDefinition, GuardProvider>();
  readonly diagnostics: Diagnostic[] = [];

  /** @param isController whether a module lists the class of an instance as a controller */
  constructor(instances: readonly unknown[], isController: (candidate: unknown) => boolean) {
    for (const provider of instances.flatMap(listGuardMethods)) this.add(provider);
    for (const instance of instances)
      if (isController(Object(instance).constructor))
        this.diagnostics.push(...listGuardMethods(instance).map(onController));
  }

  find(definition: GuardDefinition): GuardProvider | undefined {
    return this.byDefinition.get(definition);
  }

  private add(provider: GuardProvider): void {
    const other = this.byDefinition.get(provider.definition);
    if (other === undefined) this.byDefinition.set(provider.definition, provider);
    else this.diagnostics.push(providedTwice(provider, other));
  }
}

function listGuardMethods(instance: unknown): readonly GuardProvider[] {
  if (typeof instance !== "object" || instance === null) return [];
  return [...methods.getOfInstance(instance)].flatMap(([key, definitions]) =>
    definitions.map((definition) => ({
      definition,
      place: `${instance.constructor.name}.${String(key)}`,
      // Read at each call, so that a test may replace the method of an instance.
      run: (ctx: Context, ...args: readonly unknown[]) => getMethod(instance, key).call(instance, ctx, ...args),
    })),
  );
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

function onController({ definition, place }: GuardProvider): Diagnostic {
  return {
    code: "E_GUARD_ON_CONTROLLER",
    what: `@Guards(${definition.name}) stands above a method of a controller, where it protects no route`,
    where: place,
    fix: "write the guard into the endpoint, guards: […], and @Guards above a method of a provider",
  };
}
