/**
 * A page as a value that a handler returns: the component of the front end that shows it, and the props that it gets. The page stage sends
 * an HTML document, or JSON for a visit of the Inertia client.
 *
 * Not for a response that programs read: return an object.
 *
 * @example
 * return page("links/index", { links: this.store.all(), total: () => this.store.count() }).head({ title: "Links" });
 */
import type { Context } from "../../http/request/context.js";
import { checkFinalStatus } from "../../http/response/head.js";
import { Deferred } from "../../http/response/returned-value.js";
import type { ComponentName, InputsOf, PageErrors, ServerProps } from "./contract.js";
import type { PageContract } from "./contract-shape.js";
import { markPromises } from "./props/given-promises.js";
import type { HeadMetadata } from "./document/head-metadata.js";
import type { PropTable } from "./props/props-resolver.js";

/** @internal */
export interface PageSettings {
  readonly status: number | undefined;
  readonly head: HeadMetadata | undefined;
  readonly errors: PageErrors | undefined;
  readonly flash: PropTable | undefined;
  readonly encryptsHistory: boolean | undefined;
  readonly clearsHistory: boolean;
  readonly keepsFragment: boolean;
}

const DEFAULTS: PageSettings = {
  status: undefined,
  head: undefined,
  errors: undefined,
  flash: undefined,
  encryptsHistory: undefined,
  clearsHistory: false,
  keepsFragment: false,
};

export class Page<C extends string = string> extends Deferred {
  readonly kind: string;

  /** @internal */
  constructor(
    readonly component: C,
    readonly props: PropTable = {},
    /** @internal */
    readonly settings: PageSettings = DEFAULTS,
  ) {
    super();
    this.kind = `page ${JSON.stringify(component)}`;
  }

  /** @throws TypeError as `page()` @internal */
  static of<C extends string>(component: C, props?: PropTable): Page<C> {
    checkComponent(component);
    return new Page(component, checkProps(component, props));
  }

  /** Only the status is known before the props are resolved. @internal */
  override announce(ctx: Context): void {
    ctx.clearBody();
    const { status } = this.settings;
    if (status !== undefined) ctx.setStatus(status);
    else if (ctx.givenStatus === undefined) ctx.setStatus(200);
  }

  /** The status of the response, as a document and as JSON; 200 unless set here or on the context. */
  status(code: number): Page<C> {
    checkFinalStatus(code);
    return this.with({ status: code });
  }

  /** Title, description and links for the `<head>` of the document. */
  head(metadata: HeadMetadata): Page<C> {
    return this.with({ head: { ...this.settings.head, ...metadata } });
  }

  /** Messages for fields of a form, as those of a failed validation. */
  errors(messages: PageErrors): Page<C> {
    return this.with({ errors: messages });
  }

  /** Values that the browser shows once and does not keep in its history. Those of the session are added. */
  flash(values: PropTable): Page<C> {
    return this.with({ flash: { ...this.settings.flash, ...values } });
  }

  /** The browser encrypts the page in its history; `clearHistory` makes the encrypted pages unreadable. */
  encryptHistory(on = true): Page<C> {
    return this.with({ encryptsHistory: on });
  }

  /** The browser forgets the key of its encrypted history: at a sign-out. */
  clearHistory(): Page<C> {
    return this.with({ clearsHistory: true });
  }

  /** The browser keeps the fragment of the requested URL, also after a redirect. */
  preserveFragment(): Page<C> {
    return this.with({ keepsFragment: true });
  }

  private with(changed: Partial<PageSettings>): Page<C> {
    return new Page(this.component, this.props, { ...this.settings, ...changed });
  }
}

/**
 * A page of a component, with the props of its contract.
 *
 * @throws TypeError for a component that is not a text, for a prop whose name has a comma, since no request could name it, and for a prop
 * named `errors`, also in a path
 */
export function page<const C extends ComponentName | PageContract>(
  component: C,
  ...[props]: PropsArguments<C>
): Page<NameOf<C>> {
  // The compiler does not narrow the type of the name by that of the value.
  return Page.of((typeof component === "object" ? component.component : component) as NameOf<C>, props);
}

/** The name of the component. */
type NameOf<C> = C extends PageContract<unknown, infer N> ? N : C extends string ? C : never;

/** The second argument, which is optional if the contract needs no prop. */
type PropsArguments<C> = C extends PageContract<infer T> ? Arguments<InputsOf<T>> : Arguments<ServerProps<C>>;

type Arguments<I> = object extends I ? [props?: I] : [props: I];

function checkComponent(component: unknown): void {
  if (typeof component === "string" && component !== "") return;
  throw new TypeError(
    `page(…): ${JSON.stringify(component)} is not the name of a component: give one such as "links/show"`,
  );
}

/** A dot in a name is a path: the value becomes a member of the object there. */
function checkProps(component: string, props: PropTable = {}): PropTable {
  let hasPaths = false;
  for (const name of Object.keys(props)) {
    if (name === "errors" || name.startsWith("errors."))
      throw new TypeError(`page("${component}"): give errors with .errors({ field: message })`);
    if (name.includes(","))
      throw new TypeError(
        `page("${component}"): the prop "${name}" has a comma in its name: the client separates names by commas, so leave it out`,
      );
    hasPaths ||= name.includes(".");
    markPromises(props[name]);
  }
  return hasPaths ? nestPaths(component, props) : props;
}

function nestPaths(component: string, props: PropTable): PropTable {
  const all: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(props)) {
    const names = name.split(".");
    const last = names.pop() ?? "";
    let table = all;
    for (const each of names) {
      const inner = Object.hasOwn(table, each) ? table[each] : {};
      if (typeof inner !== "object" || inner === null || Object.getPrototypeOf(inner) !== Object.prototype) {
        throw new TypeError(
          `page("${component}"): the prop "${name}" is below a prop that is not an object literal: give both in one object`,
        );
      }
      table = table[each] = { ...(inner as Record<string, unknown>) };
    }
    table[last] = value;
  }
  return all;
}
