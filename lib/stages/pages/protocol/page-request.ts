/**
 * The headers of a page visit, parsed once: an Inertia request, its version, the props that it names. Every other request is a visit of a
 * browser that wants a document, and none of these headers counts for it.
 *
 * The lists are bounded in size and in names. A list that decides which props are sent is refused beyond the bounds, because props beyond
 * them would be lost without an error. In the list of props that the client has, names beyond the bounds are ignored: these props are sent
 * again.
 */
import type { IncomingHttpHeaders } from "node:http";
import { BadRequestError } from "../../../errors/framework-error.js";
import { trimWhitespace } from "../../../http/response/field-value.js";

/** In bytes and in names, for one header. */
const MAX_LIST_BYTES = 8192;
const MAX_NAMES = 64;
/** In characters. */
const MAX_BAG = 128;

export interface PageRequest {
  /** `X-Inertia: true`, exactly. */
  readonly isInertia: boolean;
  /** The version of the assets that the client runs; `""` if it has none. */
  readonly version: string;
  /** The component of a partial reload; the lists count only if it is the component of the response. */
  readonly partialComponent: string | undefined;
  readonly only: readonly string[] | undefined;
  readonly except: readonly string[] | undefined;
  readonly reset: readonly string[];
  readonly knownOnceProps: readonly string[];
  readonly errorBag: string | undefined;
  readonly mergesAtStart: boolean;
  /** The client, or the browser, fetches the page before the reader asks for it. */
  readonly isPrefetch: boolean;
}

const DOCUMENT: PageRequest = Object.freeze({
  isInertia: false,
  version: "",
  partialComponent: undefined,
  only: undefined,
  except: undefined,
  reset: [],
  knownOnceProps: [],
  errorBag: undefined,
  mergesAtStart: false,
  isPrefetch: false,
});
const PREFETCHED_DOCUMENT: PageRequest = Object.freeze({ ...DOCUMENT, isPrefetch: true });

/** @throws BadRequestError `E_PAGE_HEADER` for a list beyond the bounds */
export function readPageRequest(headers: IncomingHttpHeaders): PageRequest {
  if (headers["x-inertia"] !== "true") return isPrefetch(headers) ? PREFETCHED_DOCUMENT : DOCUMENT;
  return {
    isInertia: true,
    version: joinLines(headers["x-inertia-version"]) ?? "",
    partialComponent: joinLines(headers["x-inertia-partial-component"]),
    only: readNames(headers, "x-inertia-partial-data"),
    except: readNames(headers, "x-inertia-partial-except"),
    reset: readNames(headers, "x-inertia-reset") ?? [],
    knownOnceProps: readKnownNames(headers["x-inertia-except-once-props"]),
    errorBag: readBag(headers["x-inertia-error-bag"]),
    mergesAtStart: headers["x-inertia-infinite-scroll-merge-intent"] === "prepend",
    isPrefetch: isPrefetch(headers),
  };
}

/** `Purpose` is the client's; browsers mark their prefetching and prerendering with `Sec-Purpose`, a token with parameters. */
function isPrefetch({ purpose, "sec-purpose": secPurpose }: IncomingHttpHeaders): boolean {
  if (purpose === undefined && secPurpose === undefined) return false;
  if (purpose === "prefetch") return true;
  return /^\s*prefetch\s*(?:;|,|$)/i.test(joinLines(secPurpose) ?? "");
}

function readNames(headers: IncomingHttpHeaders, header: string): readonly string[] | undefined {
  const text = joinLines(headers[header]);
  if (text === undefined) return undefined;
  const list = Buffer.byteLength(text) > MAX_LIST_BYTES ? undefined : splitNames(text, MAX_NAMES + 1);
  if (list === undefined || list.length > MAX_NAMES) {
    throw new BadRequestError(`The header ${header} has more than ${MAX_NAMES} names or ${MAX_LIST_BYTES} bytes.`, {
      code: "E_PAGE_HEADER",
    });
  }
  return list.length === 0 ? undefined : list;
}

function readKnownNames(header: string | string[] | undefined): readonly string[] {
  const text = joinLines(header) ?? "";
  // A name that is cut off could be the name of another prop.
  const within = text.length <= MAX_LIST_BYTES ? text : text.slice(0, text.lastIndexOf(",", MAX_LIST_BYTES) + 1);
  return within === "" ? [] : splitNames(within, MAX_NAMES);
}

function splitNames(text: string, max: number): readonly string[] {
  const found = new Set<string>();
  let start = 0;
  while (start <= text.length && found.size < max) {
    const comma = text.indexOf(",", start);
    const end = comma < 0 ? text.length : comma;
    const name = trimWhitespace(text.slice(start, end));
    if (name !== "") found.add(name);
    start = end + 1;
  }
  return [...found];
}

function readBag(header: string | string[] | undefined): string | undefined {
  const bag = trimWhitespace(joinLines(header) ?? "");
  if (bag.length <= MAX_BAG) return bag === "" ? undefined : bag;
  throw new BadRequestError(`The header x-inertia-error-bag has more than ${MAX_BAG} characters.`, {
    code: "E_PAGE_HEADER",
  });
}

/** Node joins repeated lines of these headers, but its types do not say so. */
function joinLines(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(",") : header;
}
