/**
 * The elements of a document's `<head>` if the server has rendered the page: the metadata of the page, and the elements that the
 * component's `<Head>` gave.
 */
import type { RenderedPage } from "../rendering/page-renderer.js";

const TITLE = /^\s*<title[\s>]/i;
/** Elements that a policy checks for a nonce. */
const CHECKED = /^\s*<(?:script|style|link)(?=[\s>/])/i;

/** A component reads the nonce from the document, which the server does not have. Adapters write the missing value as text. */
const NO_NONCE = /\snonce(?:="(?:undefined|null)?")?(?=[\s/]|$)/i;

/**
 * The title of a rendered `<Head>` replaces the title that comes from the component's name.
 *
 * @param metadata the metadata of the page as HTML, with the title first
 * @param hasTitle whether the metadata names the title
 * @param nonce the attribute with a leading space, or `""`
 */
export function mergeHead(
  metadata: string,
  rendered: RenderedPage | undefined,
  hasTitle: boolean,
  nonce: string,
): string {
  if (rendered === undefined) return metadata;
  const hasRenderedTitle = rendered.head.some((element) => TITLE.test(element));
  const remaining = hasRenderedTitle && !hasTitle ? metadata.replace(/^<title[^>]*>[^<]*<\/title>/, "") : metadata;
  const added = hasTitle ? rendered.head.filter((element) => !TITLE.test(element)) : rendered.head;
  return remaining + added.map((element) => withNonce(element, nonce)).join("");
}

/**
 * A script or a style needs the nonce of the request, which the component does not know. Only the element itself gets it, because markup
 * inside its text may come from a visitor.
 */
function withNonce(element: string, nonce: string): string {
  const start = nonce === "" ? null : CHECKED.exec(element);
  if (start === null) return element;
  const end = element.indexOf(">");
  const attributes = element.slice(start[0].length, end).replace(NO_NONCE, "");
  if (/\snonce\b/i.test(attributes)) return element;
  return start[0] + nonce + attributes + element.slice(end);
}
