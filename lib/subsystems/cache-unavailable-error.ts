/** The cache did not do what it was asked to: it is gone, too slow, or it refused. Never a miss; 503 where nobody catches it. */
import { UnavailableError } from "../errors/framework-error.js";

export class CacheUnavailableError extends UnavailableError {
  constructor(cause: unknown, detail = "The cache is unavailable.") {
    super(detail, { code: "E_CACHE_UNAVAILABLE", cause });
  }
}
