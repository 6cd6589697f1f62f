/**
 * The page object as JSON: the data that the client needs for the page and for later visits. Members without information are absent. The
 * text is joined from its parts, so that no part is serialised twice.
 */
import { toJsonText } from "../../../http/response/json-text.js";
import { DEFAULT_BAG, type FlashContent } from "../../session/flash-port.js";
import type { PropMetadata } from "../props/prop-marks.js";
import type { PropTable } from "../props/props-resolver.js";

export interface PageObject {
  readonly component: string;
  /** Without `errors`. */
  readonly props: PropTable;
  readonly errors: PropTable;
  /** Path and query, as the browser shows them. */
  readonly url: string;
  readonly version: string | null;
  readonly encryptHistory: boolean;
  readonly clearHistory: boolean;
  readonly preserveFragment: boolean;
  readonly flash: PropTable | undefined;
  readonly sharedProps: readonly string[];
  readonly metadata: PropMetadata;
}

/** @throws TypeError for a prop that JSON cannot hold: a BigInt, a cycle, a promise */
export function serializePage(page: PageObject): string {
  const { component, props, errors, url, version, flash, sharedProps, metadata } = page;
  const members = toJsonText(props).slice(1, -1);
  let text = `{"component":${JSON.stringify(component)},"props":{"errors":${serializeErrors(errors)}`;
  text += members === "" ? "}" : `,${members}}`;
  text += `,"url":${JSON.stringify(url)},"version":${JSON.stringify(version)}`;
  if (page.encryptHistory) text += ',"encryptHistory":true';
  if (page.clearHistory) text += ',"clearHistory":true';
  if (page.preserveFragment) text += ',"preserveFragment":true';
  if (flash !== undefined) text += `,"flash":${toJsonText(flash)}`;
  if (sharedProps.length > 0) text += `,"sharedProps":${JSON.stringify(sharedProps)}`;
  for (const name in metadata) text += `,"${name}":${JSON.stringify(metadata[name as keyof PropMetadata])}`;
  return `${text}}`;
}

const NO_ERRORS: PropTable = Object.freeze({});

function serializeErrors(errors: PropTable): string {
  return errors === NO_ERRORS ? "{}" : JSON.stringify(errors);
}

/**
 * The `errors` of the props: the messages of the form without a bag, and the bags of the other forms. A requested bag is present even if it
 * is empty.
 */
export function mergeErrors(
  flash: FlashContent["errors"],
  given: PropTable | undefined,
  bag: string | undefined,
): PropTable {
  const { [DEFAULT_BAG]: unnamed, ...named } = flash;
  if (bag !== undefined) return withoutPrototype({ ...named, [bag]: given ?? named[bag] ?? unnamed ?? {} });
  if (given === undefined && unnamed === undefined && Object.keys(named).length === 0) return NO_ERRORS;
  return withoutPrototype({ ...named, ...unnamed, ...given });
}

/** The names come from a request: `__proto__` is one of them. */
function withoutPrototype(table: PropTable): PropTable {
  return Object.assign(Object.create(null) as Record<string, unknown>, table);
}

/** The `flash` of the page object: the texts by their keys, and the messages. */
export function mergeFlash({ data, messages }: FlashContent, given: PropTable | undefined): PropTable | undefined {
  const hasData = Object.keys(data).length > 0;
  if (!hasData && messages.length === 0) return given;
  return { ...data, ...(messages.length > 0 && { messages }), ...given };
}
