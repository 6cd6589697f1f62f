/**
 * Text inside HTML: escaped for elements and attributes, and JSON inside a `<script>`. In a script the browser decodes no entities, so the
 * characters that could end the script, or start a comment that hides its end, are escaped as JSON escapes them.
 */

const SPECIAL = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** For the text of an element and for an attribute in quotes. */
export function escapeHtml(text: string): string {
  return text.replace(SPECIAL, (character) => ENTITIES[character] ?? character);
}

const RARE_IN_SCRIPT = /[<>&\u2028\u2029]/;
const SLASHES = /\//g;
const ALL_IN_SCRIPT = /[<>&/\u2028\u2029]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "/": "\\/",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** JSON text for a `<script type="application/json">`. It stays the same JSON. */
export function scriptJson(json: string): string {
  // Nearly every page has URLs, and no other of these characters.
  if (!RARE_IN_SCRIPT.test(json)) return json.replace(SLASHES, "\\/");
  return json.replace(ALL_IN_SCRIPT, (character) => ESCAPES[character] ?? character);
}
