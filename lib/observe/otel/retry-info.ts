/**
 * Reads the time after which a collector wants a refused batch again: the message `google.rpc.RetryInfo` in the trailer
 * `grpc-status-details-bin`, which is a `google.rpc.Status`. Malformed data counts as absent.
 */

const TRAILER = "grpc-status-details-bin";
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";

// The fields of the messages.
const STATUS_DETAILS = 3;
const ANY_TYPE = 1;
const ANY_VALUE = 2;
const RETRY_DELAY = 1;
const SECONDS = 1;
const NANOS = 2;

type ProtobufField = readonly [number: number, value: number | Uint8Array];

/** The delay in milliseconds, above 0; `undefined` where the trailers name none. */
export function findRetryDelay(metadata: unknown): number | undefined {
  for (const details of readTrailers(metadata)) {
    for (const detail of parseMessages(details, STATUS_DETAILS)) {
      const [type] = parseMessages(detail, ANY_TYPE);
      if (type === undefined || Buffer.from(type).toString() !== RETRY_INFO) continue;
      const delay = parseMessages(detail, ANY_VALUE).flatMap((info) => parseMessages(info, RETRY_DELAY))[0];
      if (delay !== undefined) return parseDuration(delay);
    }
  }
  return undefined;
}

function readTrailers(metadata: unknown): Uint8Array[] {
  const { get } = (metadata ?? {}) as { readonly get?: (this: unknown, name: string) => unknown };
  const values = typeof get === "function" ? get.call(metadata, TRAILER) : undefined;
  return Array.isArray(values) ? values.filter((value) => value instanceof Uint8Array) : [];
}

function parseDuration(duration: Uint8Array): number | undefined {
  const fields = new Map(parseFields(duration));
  const [seconds, nanos] = [fields.get(SECONDS) ?? 0, fields.get(NANOS) ?? 0];
  if (typeof seconds !== "number" || typeof nanos !== "number") return undefined;
  const ms = seconds * 1000 + Math.ceil(nanos / 1_000_000);
  return ms > 0 && Number.isSafeInteger(ms) ? ms : undefined;
}

function parseMessages(message: Uint8Array, wanted: number): Uint8Array[] {
  return parseFields(message).flatMap(([number, value]) =>
    number === wanted && typeof value !== "number" ? [value] : [],
  );
}

/** The varints and the length-delimited fields of a protobuf message; none of them if the message is malformed. */
function parseFields(message: Uint8Array): ProtobufField[] {
  const fields: ProtobufField[] = [];
  for (let at = 0; at < message.length;) {
    const [tag, afterTag] = parseVarint(message, at);
    const [value, afterValue] = parseVarint(message, afterTag);
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    at = type === 2 ? afterValue + value : afterValue;
    if ((type !== 0 && type !== 2) || !(at <= message.length)) return [];
    fields.push([number, type === 0 ? value : message.subarray(afterValue, at)]);
  }
  return fields;
}

/** The value, and the position behind it; `NaN` for both where the bytes end too early. A value above 2^53 loses digits. */
function parseVarint(bytes: Uint8Array, start: number): readonly [value: number, end: number] {
  let value = 0;
  for (let index = 0; index < 10; index++) {
    const byte = bytes[start + index];
    if (byte === undefined) break;
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return [value, start + index + 1];
  }
  return [Number.NaN, Number.NaN];
}
