/** The content of a form: JSON from the pages, urlencoded from a browser without scripts. */
import { content, type Schema } from "@stagecraft/framework/routes";

export function formContent<S extends Schema>(schema: S) {
  return { "application/json": schema, "application/x-www-form-urlencoded": content.form(schema) };
}
