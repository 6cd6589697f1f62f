/**
 * The errors of a storage. None of them holds a key, a path or a part of the content: a key may be the name of a person's document, and
 * errors are logged. An error of a driver is replaced by one of these, with the code of the driver and without its message.
 */
import {
  BadRequestError,
  ConflictError,
  FrameworkError,
  NotFoundError,
  UnavailableError,
} from "../errors/framework-error.js";

/** 404: there is no file under the key. */
export class StoredFileMissingError extends NotFoundError {
  constructor() {
    super("There is no such file.", { code: "E_STORAGE_MISSING" });
  }
}

/** 400: the text is not a valid key. */
export class StorageKeyError extends BadRequestError {
  /** @param fault the rule that the key breaks, without the key */
  constructor(fault: string) {
    super(`a key of a storage ${fault}`, { code: "E_STORAGE_KEY" });
  }
}

/** 416: the range starts behind the end of the file. */
export class StorageRangeError extends FrameworkError {
  constructor(readonly size: number) {
    super("The range starts behind the end of the file.", {
      code: "E_STORAGE_RANGE",
      status: 416,
      headers: { "Content-Range": `bytes */${size}` },
    });
  }
}

/** 507: the disk, the quota or the bound of the storage is reached. Nothing was stored. */
export class StorageFullError extends FrameworkError {
  constructor(cause?: unknown) {
    super("The storage is full.", { code: "E_STORAGE_FULL", status: 507, ...(cause === undefined ? {} : { cause }) });
  }
}

/** 503: the storage cannot be reached, refused the access, or failed. */
export class StorageUnavailableError extends UnavailableError {
  /** @param cause an error without key and content: see `driverFault` */
  constructor(cause: unknown, detail = "The storage is unavailable.") {
    super(detail, { code: "E_STORAGE_UNAVAILABLE", cause });
  }
}

/** The storage has no setting for URLs. */
export function withoutUrls(): FrameworkError {
  return new FrameworkError("the storage gives out no URLs; give it the option urls: { base, key }", {
    code: "E_STORAGE_URL",
  });
}

/** The source of the content has more or fewer bytes than announced. */
export function wrongSize(size: number, isMore: boolean): FrameworkError {
  return new BadRequestError(`the content has ${isMore ? "more" : "fewer"} than the announced ${size} bytes`, {
    code: "E_STORAGE_SIZE",
  });
}

/** A file cannot lie below another file: on a disk `a/b` needs a directory `a`. */
export function keyInTheWay(): ConflictError {
  return new ConflictError("another file is in the way: a file cannot lie below another file", {
    code: "E_STORAGE_CONFLICT",
  });
}

/** The name and the code of an error of a driver. Its message quotes paths and keys, so it is omitted. */
export function driverFault(error: unknown): Error {
  const name = error instanceof Error ? error.name : "a value that is not an Error";
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  const fault = new Error(
    typeof code === "string" ? `the driver failed with ${code}` : `the driver failed with ${name}`,
  );
  fault.name = name;
  return typeof code === "string" ? Object.assign(fault, { code }) : fault;
}
