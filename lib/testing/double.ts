/**
 * A partial test double: the members that the test needs, checked against the token's type. Every other member throws when it is read,
 * and the error names it. For a complete double use `provide(Token).useValue(…)` or `.useClass(…)`.
 *
 * A double is a plain object and no instance of the token's class. So the application does not start, probe or stop the double of a
 * `Subsystem`.
 *
 * @example
 * await using app = await testApp(ShopModule, double(LinkStore, { find: () => undefined }));
 * const links = new LinksController(double(LinkStore, { find: () => undefined }).value);
 */
import { Binding } from "../di/provide.js";
import { describeToken, type InjectionToken } from "../di/token.js";
import { createFailure } from "./failure.js";

/** A binding for `testApp`, and the double itself for a unit test. */
export class Double<T> extends Binding<T> {
  /** @internal Use `double`. */
  constructor(
    token: InjectionToken<T>,
    readonly value: T,
  ) {
    super(token, { kind: "value", value });
  }
}

/**
 * @param members methods and values; methods call each other through `this`
 * @returns a binding, whose `value` throws an AssertionError where a member that `members` lacks is read
 */
export function double<T extends object>(
  token: InjectionToken<T>,
  members: Partial<NoInfer<T>> & ThisType<NoInfer<T>>,
): Double<T> {
  const value = new Proxy(members, {
    get(target, name, receiver): unknown {
      if (typeof name === "string" && !Reflect.has(target, name) && !PROBED.has(name))
        throw createMissingMemberError(token, name);
      return Reflect.get(target, name, receiver);
    },
  });
  // The proxy throws for each member that is not there.
  return new Double(token, value as T);
}

/** The language and `JSON.stringify` read these from every object, to see whether it is a promise or defines its JSON form. */
const PROBED: ReadonlySet<string> = new Set(["then", "toJSON"]);

function createMissingMemberError(token: unknown, name: string): Error {
  const tokenName = describeToken(token);
  return createFailure(
    `the double of ${tokenName} has no member ${name}: add it, double(${tokenName}, { ${name}: … })`,
  );
}
