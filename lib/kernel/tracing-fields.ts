/** A copy of fields that their owner may change: the caller's object stays the caller's, and what throws is marked. */
import type { Fields } from "./tracing-port.js";

export function copyFields(fields: Fields): Fields {
  try {
    return { ...fields };
  } catch {
    return copyOneByOne(fields);
  }
}

function copyOneByOne(fields: Fields): Fields {
  try {
    return Object.fromEntries(Object.keys(fields).map((name) => [name, read(fields, name)]));
  } catch {
    // A proxy that does not even list its names has none.
    return {};
  }
}

function read(fields: Fields, name: string): unknown {
  try {
    return fields[name];
  } catch {
    return "[unreadable]";
  }
}
