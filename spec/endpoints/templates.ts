/** Arbitrary templates, paths and tables over few words, so that paths often match templates. */
import * as fc from "fast-check";

const WORDS = ["a", "b", "caf\u00e9", "x%2Fy", "1:2", "(c)+*!"];

const REQUESTED = [
  "a",
  "b",
  "%61",
  "caf%c3%a9",
  "caf%C3%A9",
  "x%2fy",
  "1%3a2",
  "(c)+*!",
  "%28c)+*!",
  "",
  "z",
  "%20",
  "..",
  ":p0",
];

export function template(): fc.Arbitrary<string> {
  const segment = fc.oneof(fc.constantFrom(...WORDS), fc.constant("{}"));
  return fc
    .record({ segments: fc.array(segment, { maxLength: 4 }), catchAll: fc.boolean() })
    .map(({ segments, catchAll }) => {
      const named = segments.map((each, at) => (each === "{}" ? `{p${at}}` : each));
      return `/${[...named, ...(catchAll ? ["{*rest}"] : [])].join("/")}`;
    });
}

/** The path of a request, as a client sends it. */
export function requestPath(): fc.Arbitrary<string> {
  const segment = fc.constantFrom(...REQUESTED);
  return fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join("/")}`);
}
