/**
 * A key of a cache with the type of its value. With a schema each stored value is checked when it is read, so that a value of an older
 * program is computed again. Without a schema the value is trusted to have the type that the program declares.
 *
 * @example
 * const LINK = cacheKey("link", LinkSchema);
 * const link = await cache.remember(LINK.of(id), 60_000, () => links.find(id), { tags: [`link:${id}`] });
 */
import { FrameworkError } from "../errors/framework-error.js";
import { validate } from "../http/body/validate.js";
import type { InferOutput, Schema } from "../runtime/standard-schema.js";
import type { TypedCacheKey } from "./cache.js";
import { redactKey } from "./cache-value.js";

export class CacheKey<T> implements TypedCacheKey<T> {
  declare readonly check?: (value: unknown) => Promise<T>;

  /** @internal */
  constructor(
    readonly name: string,
    private readonly schema: Schema | undefined,
  ) {
    // The overloads of `cacheKey` guarantee that the schema's output has this type.
    if (schema !== undefined) this.check = (value) => checkValue(name, schema, value) as Promise<T>;
  }

  /**
   * The key of one of many values, for example of a record by its id. Each part is percent-encoded, so two lists of parts never give the
   * same key.
   *
   * @throws FrameworkError `E_CACHE_KEY` for a part that is no well-formed Unicode
   */
  of(...parts: readonly (string | number | bigint | boolean)[]): CacheKey<T> {
    return new CacheKey([this.name, ...parts.map(encodePart)].join(":"), this.schema);
  }
}

export function cacheKey<S extends Schema>(name: string, schema: S): CacheKey<InferOutput<S>>;
export function cacheKey<T>(name: string): CacheKey<T>;
export function cacheKey(name: string, schema?: Schema): CacheKey<unknown> {
  return new CacheKey(name, schema);
}

function encodePart(part: string | number | bigint | boolean): string {
  try {
    return encodeURIComponent(String(part));
  } catch (cause) {
    throw new FrameworkError("a part of a key of a cache is well-formed Unicode", { code: "E_CACHE_KEY", cause });
  }
}

/** @throws FrameworkError `E_CACHE_VALUE`; a stored value is not the fault of the client, so the status is 500 */
async function checkValue(name: string, schema: Schema, value: unknown): Promise<unknown> {
  try {
    return await validate(schema, value);
  } catch (cause) {
    throw new FrameworkError(
      `the cached value under ${JSON.stringify(redactKey(name))} does not fit the schema of its key`,
      {
        code: "E_CACHE_VALUE",
        cause,
      },
    );
  }
}
