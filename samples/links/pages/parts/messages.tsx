/** The messages of a page in the language of its request. The server sends the catalog once, and this file formats it: counts change in the browser. */
import { FluentBundle, FluentDateTime, FluentResource } from "@fluent/bundle";
import { usePage } from "@inertiajs/react";
import { Fragment, type ReactElement } from "react";

type Values = Readonly<Record<string, string | number | Date>>;

export interface Messages {
  readonly tag: string;
  readonly t: (id: string, values?: Values) => string;
}

/** A catalog is parsed once: each component of a page asks for it, and on the server each page. */
const known = new Map<string, Messages>();

export function useMessages(): Messages {
  const { locale, messages } = usePage().props;
  // An error page is without props where the part that has failed is needed for them.
  return findMessages(locale?.tag ?? "en", messages ?? FRAME_MESSAGES);
}

function findMessages(tag: string, source: string): Messages {
  const key = `${tag}\n${source}`;
  const found = known.get(key) ?? parse(tag, source);
  known.set(key, found);
  return found;
}

function parse(tag: string, source: string): Messages {
  const bundle = new FluentBundle(tag, { useIsolating: false });
  bundle.addResource(new FluentResource(source));
  const t: Messages["t"] = (id, values = {}) => {
    const pattern = bundle.getMessage(id)?.value;
    return pattern ? bundle.formatPattern(pattern, toVariables(values), []) : id;
  };
  return { tag, t };
}

/** Dates are in UTC on the server and in every browser. */
function toVariables(values: Values) {
  const entries = Object.entries(values).map(
    ([name, value]) =>
      [name, value instanceof Date ? new FluentDateTime(value.getTime(), { timeZone: "UTC" }) : value] as const,
  );
  return Object.fromEntries(entries);
}

interface TextProps {
  readonly id: string;
  readonly values?: Values;
  /** For values that are elements: an address in bold, a link. */
  readonly elements: Readonly<Record<string, ReactElement>>;
}

/** No catalog has this character. */
const MARK = "\u0001";

/** A message with elements among its words. Each language puts them where they belong. */
export function Text({ id, values = {}, elements }: TextProps) {
  const { t } = useMessages();
  const marks = Object.keys(elements).map((name) => [name, MARK + name + MARK] as const);
  const parts = t(id, { ...values, ...Object.fromEntries(marks) }).split(MARK);
  // Each second part is the name of an element.
  return parts.map((part, at) => <Fragment key={at}>{at % 2 === 0 ? part : elements[part]}</Fragment>);
}
