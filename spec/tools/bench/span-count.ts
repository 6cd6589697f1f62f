/**
 * The number of spans in an OTLP request, counted without decoding them: request, its resource spans (field 1), their scope spans
 * (field 2), their spans (field 2). In Protocol Buffers a field is a tag and, for these fields, a length and that many bytes.
 */

const RESOURCE_SPANS = 1;
const SCOPE_SPANS = 2;
const SPANS = 2;
const LENGTH_DELIMITED = 2;

export function countSpans(request: Uint8Array): number {
  let count = 0;
  for (const resourceSpans of fields(request, RESOURCE_SPANS)) {
    for (const scopeSpans of fields(resourceSpans, SCOPE_SPANS)) {
      for (const _ of fields(scopeSpans, SPANS)) count += 1;
    }
  }
  return count;
}

/** The contents of every field of that number. */
function* fields(message: Uint8Array, number: number): Generator<Uint8Array> {
  let at = 0;
  while (at < message.length) {
    const tag = varint(message, at);
    if ((tag.value & 7) !== LENGTH_DELIMITED)
      throw new Error(`no message of OTLP has a field of kind ${tag.value & 7} here`);
    const length = varint(message, tag.end);
    at = length.end + length.value;
    if (tag.value >>> 3 === number) yield message.subarray(length.end, at);
  }
}

/** Numbers of up to 28 bits: tags, and lengths below 256 MiB. */
function varint(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[end] ?? 0;
    end += 1;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { value, end };
  }
}
