/**
 * A policy: what a user may do with a resource. Each method of the class is an ability, and so is a field that is a function. It returns
 * `true` to allow, and anything else denies. A guard decides before the handler runs, and knows no resource. A policy is asked in the
 * handler, when the resource has been found. It is a provider, so that its abilities may ask other providers.
 *
 * @example
 * class LinkPolicy extends Policy<User, Link> {
 *   override readonly denial = 404;
 *   update(user: User, link: Link) { return link.owner === user.id; }
 * }
 *
 * this.policy.can(user).update(link); // throws unless the link is that of the user
 * if (this.policy.allows(user).update(link)) { … }
 */
import { markKind } from "../errors/copy-mark.js";
import { ForbiddenError, FrameworkError, NotFoundError } from "../errors/framework-error.js";
import { isPromise, toPromise } from "../http/middleware.js";

/** The abilities of a policy for one user. A member of another name cannot be called. @typeParam R the result of an ability */
export type Abilities<P, U, S, R> = {
  readonly [K in Exclude<keyof P, keyof Policy<never, never>>]: Ability<P[K], U, S, R>;
} & { readonly [name: string]: { readonly "the policy has no ability of this name": true } };

/** For a member that is no ability it is a type that cannot be called. The compiler ends its message with the name of its property. */
export type Ability<M, U, S, R> = M extends (...args: infer A) => infer D
  ? [D] extends [boolean | Promise<boolean>]
    ? A extends readonly [infer V, ...infer Rest]
      ? [U, S] extends readonly [V, ...(Rest extends readonly [] ? [unknown] : [Rest[0]])]
        ? (...args: Rest) => Decided<D, R>
        : { readonly "this ability is for another user or resource than its policy": true }
      : () => Decided<D, R>
    : { readonly "an ability returns a boolean or a promise of one": true }
  : { readonly "an ability is a method": true };

/** A promise only where the ability returns one. */
type Decided<D, R> = D extends Promise<unknown> ? Promise<R> : R;

/** @typeParam U the user @typeParam S the resource, the second argument of an ability; an ability may take further ones, or the user alone */
export abstract class Policy<U, S> {
  /** The status of a denial. 404 hides that the resource exists. */
  readonly denial: 403 | 404 = 403;

  static {
    markKind(this.prototype, "policy");
  }

  /**
   * The abilities for the user; each throws unless it allows. The promise of an asynchronous ability has to be awaited, or it denies nothing.
   *
   * @throws ForbiddenError, or NotFoundError where `denial` is 404; FrameworkError `E_POLICY_ABILITY` for a name without a method
   */
  can(user: U): Abilities<this, U, S, void> {
    // The proxy has a function for each name, and refuses those without a method.
    return createAbilities(this, user, (allowed) => this.enforce(allowed)) as Abilities<this, U, S, void>;
  }

  /**
   * The abilities for the user; each returns whether it allows.
   *
   * @throws FrameworkError `E_POLICY_ABILITY` for a name without a method
   */
  allows(user: U): Abilities<this, U, S, boolean> {
    return createAbilities(this, user, (allowed) => allowed) as Abilities<this, U, S, boolean>;
  }

  private enforce(allowed: boolean): void {
    if (allowed) return;
    // Without a detail, so that the response is that of a resource which does not exist.
    if (this.denial === 404) throw new NotFoundError(undefined, { code: DENIED });
    throw new ForbiddenError(undefined, { code: DENIED });
  }
}

const DENIED = "E_POLICY_DENIED";

function createAbilities(policy: Policy<never, never>, user: unknown, finish: (allowed: boolean) => unknown): object {
  return new Proxy(Object.freeze({}), {
    get(_target, name): unknown {
      // The language reads `then` of every value that is awaited, and symbols of every value that is printed.
      if (typeof name === "symbol" || name === "then") return undefined;
      requireAbility(policy, name);
      return (...args: readonly unknown[]) => decide(Reflect.get(policy, name), policy, [user, ...args], finish);
    },
  });
}

/** Anything but `true` denies. */
function decide(
  ability: unknown,
  policy: object,
  args: readonly unknown[],
  finish: (allowed: boolean) => unknown,
): unknown {
  // The class declares a method of the name; a test may have replaced it, with another function.
  const decision: unknown = Reflect.apply(ability as () => unknown, policy, args);
  return isPromise(decision)
    ? toPromise(decision).then((settled) => finish(settled === true))
    : finish(decision === true);
}

function requireAbility(policy: Policy<never, never>, name: string): void {
  // An ability may be a field, which the instance itself has.
  let holder: unknown = policy;
  for (; holder !== Policy.prototype; holder = Object.getPrototypeOf(holder)) {
    const method: unknown = Object.getOwnPropertyDescriptor(holder, name)?.value;
    if (typeof method === "function" && name !== "constructor") return;
  }
  throw new FrameworkError(`${policy.constructor.name} has no ability ${name}: write a method of that name`, {
    code: "E_POLICY_ABILITY",
  });
}
