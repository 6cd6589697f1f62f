/**
 * The props that every page has: those of the application, and those that a middleware adds for one request. A value of the application is
 * a constant or a function of the request, so that no value of one visitor reaches another one.
 *
 * @example
 * new Pages({ share: { appName: "Links", user: (ctx) => userOf(ctx) } });
 * share(ctx, { team });
 */
import type { Context } from "../../../http/request/context.js";
import { Extension } from "../../../http/request/extension.js";
import type { InputsOf, SharedProps } from "../contract.js";
import { markPromises } from "./given-promises.js";
import type { PropTable } from "./props-resolver.js";

/** The parameter of `share`: the declared shared props; any props while none are declared. */
export type SharedInputs = [keyof SharedProps] extends [never]
  ? Readonly<Record<string, unknown>>
  : // oxlint-disable-next-line typescript/no-generated-empty-object-type -- an application declares members
    Partial<InputsOf<SharedProps>>;

const Added = new Extension<PropTable>("shared props");

/**
 * Adds props to the page of this request. A prop of the page with the same name replaces the shared one.
 *
 * @throws TypeError for a prop named `errors`, and for one whose name has a comma or a dot
 */
export function share(ctx: Context, props: SharedInputs): void {
  const bad = findInvalidName(props);
  if (bad !== undefined) throw new TypeError(`share(…): the prop ${JSON.stringify(bad)} ${SHARED_NAMES}`);
  for (const value of Object.values(props)) markPromises(value);
  Added.set(ctx, { ...Added.find(ctx), ...props });
}

/** @internal */
export const SHARED_NAMES = 'needs another name: one without a comma and a dot, and not "errors", which each page has';

/** A name that no shared prop may have: no partial reload could ask for the prop, or it would replace the errors. @internal */
export function findInvalidName(props: object): string | undefined {
  return Object.keys(props).find((name) => name === "errors" || /[,.]/.test(name));
}

/** The shared props of a request, in their order. @internal */
export function getSharedProps(ctx: Context, ofApplication: PropTable): PropTable {
  const added = Added.find(ctx);
  return added === undefined ? ofApplication : { ...ofApplication, ...added };
}

/** The shared props, of which those of the page replace some. Not by a spread, which takes V8 ten times as long for 20 props. @internal */
export function mergeProps(shared: PropTable, pageProps: PropTable): PropTable {
  const merged: Record<string, unknown> = {};
  for (const table of [shared, pageProps]) {
    for (const name of Object.keys(table)) {
      if (name !== "__proto__") merged[name] = table[name];
    }
  }
  return merged;
}
