/**
 * The functions that compiled decorators and `using` declarations call. The compiler only imports them from a package, which an application
 * would have to install, so each compiled file has their text. They use nothing outside themselves, and do what those of TypeScript do.
 */

type Decorator = (...args: readonly unknown[]) => unknown;

/** @param member for a member its key and its descriptor: `null` asks for that of the target */
function decorate(decorators: readonly (Decorator | undefined)[], target: object, ...member: unknown[]): unknown {
  const isClass = member.length === 0;
  // The compiler passes a key and a descriptor.
  const [key, given] = member as [PropertyKey, PropertyDescriptor | null | undefined];
  let value: unknown = isClass ? target : given === null ? Object.getOwnPropertyDescriptor(target, key) : given;
  for (const each of decorators.toReversed()) value = (isClass ? each?.(value) : each?.(target, key, value)) ?? value;
  if (!isClass && value !== undefined) Object.defineProperty(target, key, value as PropertyDescriptor);
  return value;
}

function decorateMetadata(key: string, value: unknown): Decorator | undefined {
  const { metadata } = Reflect as { readonly metadata?: (name: string, value: unknown) => Decorator };
  return metadata?.(key, value);
}

function decorateParam(index: number, decorator: Decorator): Decorator {
  return (target, key) => decorator(target, key, index);
}

/** The values of `using` and `await using` in one block. `d()` disposes of them, the last one first. */
function usingCtx(): object {
  const none = {};
  const disposals: { readonly isAsync: boolean; readonly dispose: (() => unknown) | undefined }[] = [];
  function add<T>(value: T, isAsync: boolean): T {
    if (value !== null && value !== undefined) {
      const methods = value as { [Symbol.asyncDispose]?: () => unknown; [Symbol.dispose]?: () => unknown };
      const dispose = (isAsync ? methods[Symbol.asyncDispose] : undefined) ?? methods[Symbol.dispose];
      if (typeof dispose !== "function") throw new TypeError("the value of a using declaration is not disposable");
      disposals.push({ isAsync, dispose: () => dispose.call(value) });
    } else if (isAsync) disposals.push({ isAsync, dispose: undefined });
    return value;
  }
  return {
    e: none,
    u: (value: unknown) => add(value, false),
    a: (value: unknown) => add(value, true),
    d(this: { e: unknown }): unknown {
      const fail = (error: unknown): void => {
        const both = { name: "SuppressedError", error, suppressed: this.e };
        this.e = this.e === none ? error : Object.assign(new Error("an error was suppressed during disposal"), both);
      };
      const disposeOfNext = (): unknown => {
        for (let next = disposals.pop(); next !== undefined; next = disposals.pop()) {
          try {
            const result = next.dispose?.();
            if (next.isAsync) return Promise.resolve(result).catch(fail).then(disposeOfNext);
          } catch (error) {
            fail(error);
          }
        }
        if (this.e !== none) throw this.e;
        return undefined;
      };
      return disposeOfNext();
    },
  };
}

const HELPERS: Readonly<Record<string, (...args: never[]) => unknown>> = {
  decorate,
  decorateMetadata,
  decorateParam,
  usingCtx,
};

/** The text that defines the named functions: some lines, or empty. */
export function createHelpers(names: readonly string[]): string {
  const unknown = names.find((name) => !Object.hasOwn(HELPERS, name));
  if (unknown !== undefined) throw new Error(`the compiler asks for the unknown helper ${unknown}`);
  if (names.length === 0) return "";
  return `const babelHelpers = { ${names.map((name) => `${name}: ${String(HELPERS[name])}`).join(", ")} };\n`;
}
