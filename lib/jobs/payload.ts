/**
 * Payloads: the conversion of a value at the dispatch, and back for the handler. A payload is JSON of at most 64 KiB in UTF-8. The schema
 * of the job checks it twice, because the program that handles it may be newer than the program that dispatched it.
 *
 * Errors name fields and codes, never a value.
 */
import { FrameworkError, ValidationError } from "../errors/framework-error.js";
import { validate } from "../http/body/validate.js";
import { findJsonDrop } from "../runtime/json-loss.js";
import type { AnyJob } from "./job.js";

export const MAX_PAYLOAD_BYTES = 65_536;

/** The JSON of a payload. @throws FrameworkError `E_JOB_PAYLOAD` */
export async function writePayload({ name, schema }: AnyJob, payload: unknown): Promise<string> {
  const text = toJson(name, payload);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_PAYLOAD_BYTES) {
    throw invalid(
      `the payload of ${name} has ${bytes} bytes of JSON, more than ${MAX_PAYLOAD_BYTES}: store it, and send its key`,
    );
  }
  // The schema checks the value that the handler will get, in which a `Date` is a text.
  if (schema !== undefined)
    await runCheck(name, () => validate(schema, payload === undefined ? undefined : JSON.parse(text)));
  return text;
}

/** The payload for the handler. @throws FrameworkError `E_JOB_PAYLOAD` */
export async function readPayload({ name, schema }: AnyJob, text: string): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(`the payload of ${name} is not JSON`);
  }
  // A dispatch without a payload is stored as null, which the schema of an optional payload refuses.
  if (schema === undefined) return value ?? undefined;
  const isAbsent = value === null && (await isAccepted(schema, undefined)) && !(await isAccepted(schema, null));
  return runCheck(name, () => validate(schema, isAbsent ? undefined : value));
}

function isAccepted(schema: NonNullable<AnyJob["schema"]>, value: unknown): Promise<boolean> {
  return validate(schema, value).then(
    () => true,
    () => false,
  );
}

function toJson(name: string, payload: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(payload);
  } catch (cause) {
    throw invalid(`the payload of ${name} cannot be written as JSON`, cause);
  }
  const loss = text === undefined ? undefined : findJsonDrop(payload, "payload");
  if (loss !== undefined) throw invalid(`the payload of ${name} loses a value in JSON: ${loss.path} is ${loss.kind}`);
  if (text !== undefined) return text;
  if (payload === undefined) return "null";
  throw invalid(`the payload of ${name} cannot be written as JSON: it is a ${typeof payload}`);
}

/** Runs a check. The fault of a payload is not the fault of a client, so the status is 500. */
async function runCheck(name: string, check: () => Promise<unknown>): Promise<unknown> {
  try {
    return await check();
  } catch (cause) {
    if (!(cause instanceof ValidationError))
      throw invalid(`the schema of ${name} failed while it checked a payload`, cause);
    throw invalid(`the schema of ${name} refuses the payload: ${describeFields(cause)}`, cause);
  }
}

/** Paths and codes. The messages of a schema may quote a value. */
function describeFields({ errors }: ValidationError): string {
  const faults = Object.entries(errors).map(
    ([path, found]) => `${path || "(whole)"} ${found.map(({ code }) => code).join(", ")}`,
  );
  return faults.join("; ").slice(0, 500);
}

function invalid(detail: string, cause?: unknown): FrameworkError {
  return new FrameworkError(detail, { code: "E_JOB_PAYLOAD", ...(cause !== undefined && { cause }) });
}
