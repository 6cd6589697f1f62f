/**
 * The `Storage` in a bucket of S3, or of a service that speaks its protocol; the entry point `@stagecraft/framework/storage/s3`. It needs
 * the packages `@aws-sdk/client-s3`, `@aws-sdk/lib-storage` and `@aws-sdk/s3-request-presigner`.
 *
 * Content of a known size is one request. Other content is sent in parts, of which four are in memory; after a failure the parts are
 * deleted. Waiting is bounded: a silent service is an error after `timeoutMs`.
 *
 * @example
 * provide(Storage).useFactory(() => new S3Storage({ bucket: "shop", region: "eu-central-1" }));
 * provide(Storage).useFactory(() => new S3Storage({ bucket: "shop", endpoint: "http://storage.internal:9000", credentials }));
 */
import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import type { FrameworkError } from "../../errors/framework-error.js";
import { createSetupError } from "../../errors/setup-error.js";
import { Storage } from "../storage.js";
import { StorageUnavailableError } from "../storage-errors.js";
import { type Clock, OVERDUE, SystemClock, within } from "../../runtime/clock.js";
import { client as aws } from "./aws.js";
import { toS3Fault } from "./s3-error.js";
import { S3Files } from "./s3-files.js";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3StorageOptions {
  readonly bucket: string;
  /** That of the environment unless set; `us-east-1` if `endpoint` is set. */
  readonly region?: string;
  /** The URL of a service that is not AWS. It gets checksums only if the protocol demands them. */
  readonly endpoint?: string;
  /** Those that the SDK finds in the environment unless set. */
  readonly credentials?: S3Credentials;
  /** The URL below which a client reads public files, such as that of a content delivery network. */
  readonly publicBase?: string;
  /** Sends `public-read` with public files. False unless set: most buckets decide by a policy, and refuse such requests. */
  readonly acl?: boolean;
  /** The time without a response or a byte after which a request fails, in milliseconds; 30 000 unless set. */
  readonly timeoutMs?: number;
  /** The name in health checks and events; `S3Storage` unless set. */
  readonly name?: string;
  /** The machine's clock unless set. */
  readonly clock?: Clock;
  /** Further options of the client, such as `forcePathStyle`. */
  readonly client?: S3ClientConfig;
}

const OPTIONS: OptionNames<S3StorageOptions> = {
  bucket: true,
  region: true,
  endpoint: true,
  credentials: true,
  publicBase: true,
  acl: true,
  timeoutMs: true,
  name: true,
  clock: true,
  client: true,
};

const TIMEOUT_MS = 30_000;
/** The time for the first contact, at the start. */
const START_TIMEOUT_MS = 10_000;

export class S3Storage extends Storage {
  override readonly name: string;
  protected readonly files: S3Files;
  private readonly bucket: string;
  private readonly client: S3Client;

  /** Opens no connection. @throws FrameworkError `E_STORAGE_S3` */
  constructor(options: S3StorageOptions) {
    checkOptionNames(options, OPTIONS, "new S3Storage");
    super(options.clock ?? new SystemClock());
    this.name = options.name ?? "S3Storage";
    this.bucket = readBucket(options.bucket);
    this.client = new aws.S3Client(clientSettings(options));
    this.files = new S3Files({
      client: this.client,
      bucket: this.bucket,
      clock: this.clock,
      sendsAcl: options.acl === true,
      publicBase: options.publicBase === undefined ? undefined : readUrl("publicBase", options.publicBase),
    });
  }

  /** @throws StorageUnavailableError if the bucket cannot be reached or used within 10 seconds */
  override async start(): Promise<void> {
    const limit = new AbortController();
    try {
      if ((await within(this.clock, START_TIMEOUT_MS, this.probe(limit.signal))) !== OVERDUE) return;
      limit.abort();
    } catch (error) {
      this.client.destroy();
      throw error;
    }
    this.client.destroy();
    throw new StorageUnavailableError(new Error("no response in time"), `The bucket ${this.bucket} does not respond.`);
  }

  /** Closes the connections. */
  override stop(): void {
    this.client.destroy();
  }

  override async probe(signal: AbortSignal): Promise<void> {
    try {
      await this.client.send(new aws.HeadBucketCommand({ Bucket: this.bucket }), { abortSignal: signal });
    } catch (error) {
      const fault = toS3Fault(error);
      throw new StorageUnavailableError(fault, `The bucket ${this.bucket} cannot be used: ${fault.message}.`);
    }
  }
}

function ignore(): void {}

/** Without a logger in its options the SDK writes warnings to the console. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

function clientSettings({ region, endpoint, credentials, timeoutMs, client }: S3StorageOptions): S3ClientConfig {
  const isForeign = endpoint !== undefined;
  // The checksums in trailers, which the SDK sends by default, break services that do not know them.
  const checksums = isForeign ? "WHEN_REQUIRED" : "WHEN_SUPPORTED";
  const chosen = region ?? (isForeign ? "us-east-1" : undefined);
  return {
    ...(chosen !== undefined && { region: chosen }),
    ...(isForeign && { endpoint: readUrl("endpoint", endpoint), forcePathStyle: true }),
    ...(credentials !== undefined && { credentials: { ...credentials } }),
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    maxAttempts: 3,
    logger: SILENT,
    requestHandler: { connectionTimeout: 5000, socketTimeout: readTimeout(timeoutMs ?? TIMEOUT_MS) },
    ...client,
  };
}

// JavaScript callers may pass anything.
function readBucket(bucket: unknown): string {
  if (typeof bucket === "string" && /^[A-Za-z0-9][\w.-]{1,254}$/.test(bucket)) return bucket;
  throw wrongSetting("bucket is the name of a bucket");
}

function readUrl(name: string, url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw wrongSetting(`${name} is an absolute URL with http: or https:`);
}

function readTimeout(timeoutMs: number): number {
  if (Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= 3_600_000) return timeoutMs;
  throw wrongSetting("timeoutMs is a whole number from 1 to 3600000");
}

/** The values are omitted: they may hold credentials. */
function wrongSetting(rule: string): FrameworkError {
  return createSetupError("E_STORAGE_S3", `new S3Storage: ${rule}`);
}
