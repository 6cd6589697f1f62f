/**
 * `a=1&b=2` from a form or a query as an object without a prototype, so that a field named `__proto__` is a field like any other.
 * A repeated key is a list; more than a thousand fields are refused. Decoding follows the URL standard's urlencoded parser.
 */
import { PayloadTooLargeError } from "../errors/framework-error.js";

export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** How many fields are read at most. */
export const MAX_FIELDS = 1000;

export function parseFields(text: string): Fields {
  const fields = Object.create(null) as Record<string, string | string[]>;
  if (text === "") return fields;
  refuseTooMany(text);
  for (const [name, value] of new URLSearchParams(text)) {
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (typeof before === "string") fields[name] = [before, value];
    else before.push(value);
  }
  return fields;
}

function refuseTooMany(text: string): void {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) {
    count += 1;
    if (count > MAX_FIELDS) throw new PayloadTooLargeError(`More than ${MAX_FIELDS} fields.`);
  }
}
