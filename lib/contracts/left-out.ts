/**
 * The parts of a request that its schema lets a client leave out: a body whose members are all optional, or a query that is optional as a
 * whole. HTTP has no absent query, and a body that is absent has no media type.
 */
import { isPromise } from "../http/middleware.js";
import type { Context } from "../http/request/context.js";
import { markHandled } from "../runtime/mark-handled.js";
import type { Schema, SchemaResult } from "../runtime/standard-schema.js";

type OptionalReader = (ctx: Context) => Promise<unknown>;

/** Returns a reader that knows the absent body. */
export function toOptionalReader(schema: Schema | undefined, read: OptionalReader): OptionalReader {
  if (schema === undefined) return read;
  return (ctx) => (hasNoBody(ctx) ? readLeftOut(schema, () => read(ctx)) : read(ctx));
}

/** The content length may be absent in HTTP/2 although there is a body. */
export function hasNoBody({ incoming: { headers, httpVersionMajor } }: Context): boolean {
  if (headers["content-type"] !== undefined || headers["transfer-encoding"] !== undefined) return false;
  return headers["content-length"] === "0" || (headers["content-length"] === undefined && httpVersionMajor < 2);
}

/** Returns the first value that the schema takes. Where it takes none, the body is read as ever. */
async function readLeftOut(schema: Schema, read: () => Promise<unknown>): Promise<unknown> {
  for (const value of LEFT_OUT) if ((await findOutput(schema, value)) !== undefined) return value;
  return read();
}

const LEFT_OUT: readonly unknown[] = [undefined, {}];

/** Whether the schema lets a client leave the part out, for API documents. One that does not say so at once counts as one that does not. */
export function maySkip(schema: Schema, values = LEFT_OUT): boolean {
  return values.some((value) => {
    try {
      const result = schema["~standard"].validate(value);
      if (!isPromise(result)) return result.issues === undefined;
      void markHandled(Promise.resolve(result));
      return false;
    } catch {
      return false;
    }
  });
}

/** The schema of a query without fields, which takes `undefined` where it refuses an object without members. */
export function createEmptyQuerySchema(schema: Schema): Schema {
  const retry = async (refusal: SchemaResult<unknown>): Promise<SchemaResult<unknown>> =>
    (await findOutput(schema, undefined)) ?? refusal;
  return {
    "~standard": {
      version: 1,
      vendor: "stagecraft",
      validate: (value) => {
        const result = schema["~standard"].validate(value);
        if ("then" in result)
          return result.then((settled) => (settled.issues === undefined ? settled : retry(settled)));
        return result.issues === undefined ? result : retry(result);
      },
    },
  };
}

/** Returns the output of the schema; `undefined` where it refuses the value, or throws because it does not expect it. */
async function findOutput(schema: Schema, value: unknown): Promise<SchemaResult<unknown> | undefined> {
  try {
    const result = await schema["~standard"].validate(value);
    return result.issues === undefined ? result : undefined;
  } catch {
    return undefined;
  }
}
