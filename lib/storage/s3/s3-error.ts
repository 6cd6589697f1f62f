/**
 * The errors of S3 as errors of a storage. The SDK's errors hold the key, the request and the response of the service, so only name and
 * status are copied.
 */
import { FrameworkError } from "../../errors/framework-error.js";
import { driverFault, StorageFullError, StorageUnavailableError } from "../storage-errors.js";

interface ServiceError {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
}

const FULL: ReadonlySet<string | undefined> = new Set(["EntityTooLarge", "QuotaExceeded", "XMinioStorageFull"]);

/** Without the permission to list, S3 does not say that an object is missing. */
const FORBIDDEN =
  ": the key of the account is wrong or lacks a permission. Without s3:ListBucket a missing object is a 403 too, and the start, which asks for the bucket, is refused";

/** The name, the status and the id of the request, with which the operator of the service finds it. */
export function toS3Fault(error: unknown): Error {
  const fault = driverFault(error);
  const { $metadata } = error as ServiceError;
  if ($metadata?.httpStatusCode === undefined) return fault;
  const id = $metadata.requestId === undefined ? "" : `, request ${$metadata.requestId}`;
  const hint = $metadata.httpStatusCode === 403 ? FORBIDDEN : "";
  fault.message = `the service responded with ${fault.name} (${$metadata.httpStatusCode}${id})${hint}`;
  return fault;
}

export function getStatus(error: unknown): number | undefined {
  return (error as ServiceError).$metadata?.httpStatusCode;
}

/** True if there is no such object. A missing bucket is an error. */
export function isMissing(error: unknown): boolean {
  const { name } = error as ServiceError;
  return name === "NoSuchKey" || (name === "NotFound" && getStatus(error) === 404);
}

/** @param signal if it has aborted, its reason is the error */
export function toS3Error(error: unknown, signal?: AbortSignal): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof FrameworkError) return error;
  const isFull = FULL.has((error as ServiceError).name) || getStatus(error) === 507;
  return isFull ? new StorageFullError(toS3Fault(error)) : new StorageUnavailableError(toS3Fault(error));
}
