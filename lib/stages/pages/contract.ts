/**
 * The types of pages. An application declares the props of each component once, in a module of types that server and front end import: the
 * server's `page()` and the component's `PageProps` are checked against the same declaration. Nothing is generated.
 *
 * A contract names the props that the component gets. A member with `?` may be absent from the first response, so the server may defer it
 * or send it on request.
 *
 * @example
 * declare module "@stagecraft/framework/pages" {
 *   interface PageContracts {
 *     "links/index": { links: readonly Link[]; clicks?: readonly number[] };
 *   }
 *   interface SharedProps {
 *     user: { name: string } | null;
 *   }
 * }
 *
 * export default function Index({ links, clicks, user }: PageProps<"links/index">) {}
 */
import type { Json } from "../../runtime/json-value.js";
import type { Context } from "../../http/request/context.js";
import type { PageContract } from "./contract-shape.js";
import { PageContractRegistry } from "./contract-registry.js";
import type { Prop } from "./props/prop.js";

/** The components of the application, each with its props. Declared by the application. */
// oxlint-disable-next-line typescript/no-empty-object-type, typescript/no-empty-interface
export interface PageContracts {}

/** The contracts at run time: `new PageContracts().register(…)`. */
export const PageContracts = PageContractRegistry;

/** The props that every page has. Declared by the application; their values come from `new Pages({ share })`. */
// oxlint-disable-next-line typescript/no-empty-object-type, typescript/no-empty-interface
export interface SharedProps {}

// oxlint-disable-next-line typescript/no-redundant-type-constituents -- an application declares members
type Declared = keyof PageContracts & string;

/** A component that a contract is declared for; any text while none is. */
export type ComponentName = [Declared] extends [never] ? string : Declared;

/** The messages by field. */
export type PageErrors = Readonly<Record<string, string>>;

/** The props of a component, as the browser gets them. */
export type PageProps<C extends ComponentName> = ClientProps<ContractOf<C>> & WithErrors;

interface WithErrors {
  /** The messages by field, and those of forms with a separate bag by bag. */
  readonly errors: Readonly<Record<string, string | readonly string[] | PageErrors>>;
}

/** The shared props as the browser gets them: for the types of the Inertia client. */
export type SharedPageProps = Json<SharedProps>;

/** The props of a component whose contract is a value, as the browser gets them: `PropsOf<typeof linksIndex>`. */
export type PropsOf<C> = C extends PageContract<infer T> ? ClientProps<T> & WithErrors : never;

/** The members of a contract and the shared ones, after their way through JSON. */
export type ClientProps<T> = Json<T> & Json<SharedProps>;

type ContractOf<C> = C extends keyof PageContracts ? PageContracts[C] : Readonly<Record<string, unknown>>;

/** The props that `page()` takes for a component. */
export type ServerProps<C> = InputsOf<ContractOf<C>>;

/** The props that `page()` takes for a contract. A shared prop may be given again, and replaces the shared value. */
export type InputsOf<T> = Inputs<T> & {
  readonly [K in Exclude<keyof SharedProps, keyof T>]?: PropInput<SharedProps[K]>;
};

type Inputs<T> = {
  readonly [K in keyof T as IsOptional<T, K> extends true ? never : K]: PropInput<T[K]>;
} & {
  readonly [K in keyof T as IsOptional<T, K> extends true ? K : never]?:
    LatePropInput<Exclude<T[K], undefined>> | undefined;
};

type IsOptional<T, K extends keyof T> = string extends K ? true : object extends Pick<T, K> ? true : false;

/** A prop of the first response: a value, a function that returns one, or a `Prop` that is not sent later. */
type PropInput<T> = Sendable<T> | Promise<Sendable<T>> | Prop<Sendable<T>, "present"> | Maker<T, "present">;

type LatePropInput<T> = Sendable<T> | Promise<Sendable<T>> | Prop<Sendable<T>> | Maker<T, "present" | "late">;

type Maker<T, P extends "present" | "late"> = (
  ctx: Context,
) => Sendable<T> | Prop<Sendable<T>, P> | Promise<Sendable<T> | Prop<Sendable<T>, P>>;

/** A value that JSON can hold. In the type, a part that JSON cannot hold is replaced by the reason. */
type Sendable<T> = T extends bigint
  ? "JSON has no bigint: send a string"
  : T extends Leaf
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Sendable<Item>[]
      : T extends object
        ? { readonly [K in keyof T]: Sendable<T[K]> }
        : T;

type Leaf = string | number | boolean | null | undefined | Date | HasJson;

interface HasJson {
  toJSON(): unknown;
}
