/**
 * The metadata of a document's `<head>`: title, description, canonical URL, Open Graph and Twitter cards. It is written into the HTML
 * document only. The elements carry `data-inertia`, so that the `<Head>` of the client replaces those that it sets itself.
 */
import { escapeHtml } from "./html.js";

export interface HeadMetadata {
  /** Without it, the title comes from the component's name: `admin/user-settings` gives `User Settings`. */
  readonly title?: string;
  readonly description?: string;
  /** The URL that search engines show. */
  readonly canonical?: string;
  /** Open Graph, without the prefix: `{ image: "…" }`. `title`, `description` and `url` are those above unless they are given here. */
  readonly og?: Readonly<Record<string, string>>;
  /** Twitter cards, without the prefix. `title`, `description` and `url` are those above unless they are given here. */
  readonly twitter?: Readonly<Record<string, string>>;
}

/**
 * @param component the source of the title if the metadata has none
 * @param rendered the elements of the `<Head>` of the component: a card value that one of them sets is not derived from the metadata
 */
export function headTags(head: HeadMetadata, component: string, rendered: readonly string[] = []): string {
  const { title, description, canonical } = head;
  let html = `<title data-inertia="">${escapeHtml(title ?? toTitle(component))}</title>`;
  if (description !== undefined) html += writeMeta("name", "description", description);
  if (canonical !== undefined) {
    html += `<link rel="canonical" href="${escapeHtml(canonical)}" data-inertia="canonical">`;
  }
  const given = { title, description, url: canonical };
  for (const [kind, prefix] of [
    ["property", "og"],
    ["name", "twitter"],
  ] as const) {
    for (const [name, value] of Object.entries({ ...given, ...head[prefix] })) {
      const isDerived = head[prefix]?.[name] === undefined;
      if (value === undefined || (isDerived && hasName(rendered, `${prefix}:${name}`))) continue;
      html += writeMeta(kind, `${prefix}:${name}`, value);
    }
  }
  return html;
}

function hasName(elements: readonly string[], name: string): boolean {
  return elements.some((element) => element.includes(`"${name}"`));
}

/** @internal */
export function toTitle(component: string): string {
  const last = component.slice(component.lastIndexOf("/") + 1);
  const words = last.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").split(/[-_ ]+/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
}

function writeMeta(attribute: "name" | "property", name: string, content: string): string {
  const escaped = escapeHtml(name);
  return `<meta ${attribute}="${escaped}" content="${escapeHtml(content)}" data-inertia="${escaped}">`;
}
