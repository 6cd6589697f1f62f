/**
 * The `Link` header of a first document (RFC 8288): the stylesheets and modules that the browser may fetch before it reads the document. A
 * proxy can send them ahead as 103 Early Hints. The value is created once for each component; a request adds its nonce.
 *
 * Proxies limit the head of a response, often to 4 KiB, so the value has at most 2048 bytes. The files beyond that limit are in the tags
 * alone.
 */
import { listBuildFiles, type BuildSite } from "./build-files.js";

/** In bytes, with the nonce. */
const MAX_BYTES = 2048;
/** A nonce of `CspNonce` in base64. */
const NONCE_LENGTH = 24;
/** Characters that the text of hashes never has. */
const NO_HASH = /[^\w+/= -]/g;
/** The placeholder of the nonce. No file name of a manifest contains it. */
const NONCE = "\u0000";

/**
 * The value for a nonce; `""` if no file is to be loaded.
 *
 * @param hasImportMap no module may be loaded before the import map, which stands in the document (HTML section 8.1.6.2)
 */
export function createPreloadHeader(
  site: BuildSite,
  component: string,
  hasImportMap: boolean,
): (nonce: string | undefined) => string {
  const { styles, script, imports } = listBuildFiles(site, component);
  const modules = hasImportMap ? [] : [...(script === undefined ? [] : [script]), ...imports];
  const links = [
    ...styles.map((file) => toLink(site, file, "rel=preload; as=style")),
    ...modules.map((file) => toLink(site, file, "rel=modulepreload")),
  ];
  const plain = takeFitting(links, 0).join(", ");
  const pieces = takeFitting(links, `; nonce="${"n".repeat(NONCE_LENGTH)}"`.length)
    .map((link) => link + NONCE)
    .join(", ")
    .split(NONCE);
  return (nonce) => (nonce === undefined ? plain : pieces.join(`; nonce="${nonce}"`));
}

/** The attributes are those of the tag, since a browser does not use a file that was fetched in another way. */
function toLink({ prefix, manifest }: BuildSite, file: string, relation: string): string {
  // The tag has the same URL with its characters as they are, which the browser encodes in this way.
  const url = encodeURI(`${prefix}/${file}`).replaceAll("%25", "%");
  const integrity = manifest.findIntegrity(file);
  const checked = integrity === undefined ? "" : `; crossorigin; integrity="${integrity.replaceAll(NO_HASH, "")}"`;
  return `<${url}>; ${relation}${checked}`;
}

/** The first links that fit into the header. */
function takeFitting(links: readonly string[], moreLength: number): readonly string[] {
  let length = 0;
  const end = links.findIndex((link) => (length += link.length + moreLength + ", ".length) > MAX_BYTES);
  return end < 0 ? links : links.slice(0, end);
}
