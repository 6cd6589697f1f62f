/**
 * Makes a page of the framework from what a route of Inertia's own test application gives to its `render`: a page object that is
 * already put together. The keys that the suite lists there (`mergeProps`, `deferredProps` …) become props of the same kind, so that
 * the framework, and not the suite, writes the page object.
 */
import { always, deferred, once, type Page, type Prop, scroll, share } from "@stagecraft/framework/pages";
import type { Context } from "@stagecraft/framework";
import { Page as PageValue } from "../../../../lib/stages/pages/page.js";
import { Prop as PropValue } from "../../../../lib/stages/pages/props/prop.js";
import { merge } from "../../../../lib/stages/pages/props/prop.js";

type Table = Readonly<Record<string, unknown>>;

interface OncePart {
  readonly prop: string;
  readonly expiresAt: number | null;
}

interface ScrollPart {
  readonly pageName: string;
  readonly previousPage: number | null;
  readonly nextPage: number | null;
  readonly currentPage: number | null;
}

/** The argument of the suite's `render`, as far as the bridge knows it. */
export interface SuitePage {
  readonly component?: string;
  readonly props?: Table;
  readonly alwaysProps?: Table;
  readonly errors?: Table;
  readonly url?: string;
  readonly flash?: Table;
  readonly encryptHistory?: boolean;
  readonly clearHistory?: boolean;
  readonly preserveFragment?: boolean;
  readonly sharedProps?: readonly string[];
  readonly mergeProps?: readonly string[];
  readonly prependProps?: readonly string[];
  readonly deepMergeProps?: readonly string[];
  readonly matchPropsOn?: readonly string[];
  readonly deferredProps?: Readonly<Record<string, readonly string[]>>;
  readonly rescuedProps?: readonly string[];
  readonly onceProps?: Readonly<Record<string, OncePart>>;
  readonly scrollProps?: Readonly<Record<string, ScrollPart>>;
}

export function pageOf(ctx: Context, data: SuitePage): Page {
  if (data.url !== undefined) ctx.originalUrl = data.url;
  const props = new Props(data);
  const { errors: _, ...values } = props.all();
  for (const name of data.sharedProps ?? []) {
    if (name in values) share(ctx, { [name]: values[name] });
  }
  let page = PageValue.of(data.component ?? componentOf(ctx.path), values);
  const errors = errorsOf(ctx, data);
  if (errors !== undefined) page = page.errors(errors);
  if (data.flash !== undefined) page = page.flash(data.flash);
  if (data.encryptHistory !== undefined) page = page.encryptHistory(data.encryptHistory);
  if (data.clearHistory === true) page = page.clearHistory();
  return data.preserveFragment === true ? page.preserveFragment() : page;
}

/** The errors of the page. The suite puts them into the bag that the request names; the framework does so itself. */
function errorsOf(ctx: Context, { props = {}, alwaysProps = {} }: SuitePage): Record<string, string> | undefined {
  const given = (alwaysProps["errors"] ?? props["errors"]) as Record<string, string> | undefined;
  const bag = given?.[ctx.get("X-Inertia-Error-Bag")] as unknown;
  return typeof bag === "object" && bag !== null ? (bag as Record<string, string>) : given;
}

/** As the suite's own server names a page without a component: `/form-helper/data` is `FormHelper/Data`. */
export function componentOf(path: string): string {
  const segments = path.slice(1).split("/").map(capital).join("/");
  return segments.split("-").map(capital).join("") || "Home";
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

class Props {
  constructor(private readonly data: SuitePage) {}

  all(): Record<string, unknown> {
    const { props = {}, alwaysProps = {} } = this.data;
    const collected: Record<string, unknown> = {};
    for (const name of this.names()) collected[name] = this.propOf(name, props);
    for (const name in alwaysProps) collected[name] = always(() => alwaysProps[name]);
    return collected;
  }

  private names(): ReadonlySet<string> {
    const { props = {}, deferredProps = {}, rescuedProps = [], onceProps = {} } = this.data;
    const late = [...Object.values(deferredProps).flat(), ...rescuedProps];
    return new Set([...Object.keys(props), ...late, ...Object.values(onceProps).map(({ prop }) => prop)]);
  }

  private propOf(name: string, props: Table): unknown {
    const { rescuedProps = [], scrollProps = {} } = this.data;
    if (rescuedProps.includes(name)) return deferred(failing, { rescue: true });
    const group = this.groupOf(name);
    const given = valueAt(props, name);
    const value = typeof given === "function" ? (): unknown => given(props) : given;
    const scrolled = scrollProps[name];
    if (scrolled !== undefined) return scrolling(value, scrolled);
    const late = group === undefined ? undefined : deferred(() => value, { group });
    return this.onceOf(name, this.mergeOf(name, late ?? value));
  }

  private groupOf(name: string): string | undefined {
    const { deferredProps = {} } = this.data;
    return Object.keys(deferredProps).find((group) => deferredProps[group]?.includes(name));
  }

  private mergeOf(name: string, value: unknown): unknown {
    const { mergeProps = [], prependProps = [], deepMergeProps = [], matchPropsOn = [] } = this.data;
    const below = (paths: readonly string[]): readonly string[] =>
      paths.filter((path) => path === name || path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
    let prop: Prop<unknown> | undefined;
    for (const path of below(mergeProps)) prop = (prop ?? propOf(value)).append(path);
    for (const path of below(prependProps)) prop = (prop ?? propOf(value)).prepend(path);
    if (below(deepMergeProps).length > 0) prop = propOf(value).deepMerge();
    return prop === undefined ? value : prop.matchOn(...below(matchPropsOn));
  }

  private onceOf(name: string, value: unknown): unknown {
    const { onceProps = {} } = this.data;
    const found = Object.entries(onceProps).find(([, { prop }]) => prop === name);
    if (found === undefined) return value;
    const [key, { expiresAt }] = found;
    const prop = value instanceof PropValue ? value.once(key) : once(() => value).once(key);
    return expiresAt === null ? prop : prop.until(Math.max(0.001, (expiresAt - Date.now()) / 1000));
  }
}

/** The value of a prop; a dot in its name leads to a member. */
function valueAt(props: Table, name: string): unknown {
  if (name in props) return props[name];
  return name.split(".").reduce<unknown>((table, key) => (table as Table | undefined)?.[key], props);
}

/** The page of the list has the cursors in it; the name of the query parameter is an option. */
function scrolling(value: unknown, { pageName, ...cursors }: ScrollPart): Prop<unknown> {
  return scroll(() => ({ ...(value as { data: unknown[] }), ...cursors }), { pageName });
}

function propOf(value: unknown): Prop<unknown> {
  if (value instanceof PropValue) return value;
  const appended = merge(() => value);
  return new PropValue(appended.source, { ...appended.settings, merge: undefined });
}

function failing(): never {
  throw new Error("the prop of the suite fails");
}
