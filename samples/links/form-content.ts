/** The content of a form: JSON from the pages, urlencoded from a browser without scripts. And the responses of pages and forms. */
import { content, type Schema } from "@stagecraft/framework/routes";

export function formContent<S extends Schema>(schema: S) {
  return { "application/json": schema, "application/x-www-form-urlencoded": content.form(schema) };
}

/** A form leads to another page. */
export const redirected = { 303: content.redirect() };

/** A page, or the way to another one, such as that of the sign-in. */
export function shown<const C extends string>(...components: readonly C[]) {
  return { 200: content.page(...components), 302: content.redirect(), ...redirected };
}
