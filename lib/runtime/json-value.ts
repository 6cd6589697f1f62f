/** The type of a value after its way through JSON: a `Date` is a text, and a member that may be `undefined` may be absent. */
export type Json<T> = T extends { toJSON(): infer R }
  ? R
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends bigint | symbol | ((...args: never) => unknown)
      ? never
      : T extends readonly (infer Item)[]
        ? readonly Json<Item>[]
        : T extends object
          ? JsonMembers<T>
          : T;

type JsonMembers<T> = {
  readonly [K in keyof T as undefined extends T[K] ? never : K]: Json<T[K]>;
} & {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Json<Exclude<T[K], undefined>>;
};
