/**
 * The text of any value in a message. A class or function is its name, and an object is "an object", because `String(value)` of them is
 * source text or `[object Object]`, and can throw. Not for values from a request.
 */
export function valueText(value: unknown): string {
  if (typeof value === "function") {
    // A static member may hide the name of the class.
    return typeof value.name === "string" && value.name !== "" ? value.name : "(anonymous class)";
  }
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
