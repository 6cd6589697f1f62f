/** The files of a storage as the objects of a bucket: the key is the name of the object. */
import type { HeadObjectCommandOutput, S3Client } from "@aws-sdk/client-s3";
import { Readable } from "node:stream";
import { FrameworkError } from "../../errors/framework-error.js";
import { StorageRangeError } from "../storage-errors.js";
import {
  type OpenedFile,
  resolveRange,
  type SignedDownload,
  type SignedUpload,
  type SignedUploadTerms,
  type StorageContent,
  type StorageFiles,
  type StorageListing,
  type StorageRange,
  type StorageVisibility,
  type StoredFile,
} from "../storage-files.js";
import { toHeaderValue, parseHeaderValue, VISIBILITY_NAME } from "../storage-key.js";
import type { Clock } from "../../runtime/clock.js";
import { client as aws, presigner } from "./aws.js";
import { isMissing, toS3Error, getStatus } from "./s3-error.js";
import { type S3Target, upload } from "./s3-upload.js";

export interface S3Bucket {
  readonly client: S3Client;
  readonly bucket: string;
  readonly clock: Clock;
  readonly sendsAcl: boolean;
  readonly publicBase: string | undefined;
}

/** The largest object that one request copies. */
const MAX_COPY_BYTES = 5_368_709_120;

type EndSignal = AbortSignal | undefined;

export class S3Files implements StorageFiles {
  private readonly client: S3Client;

  constructor(private readonly settings: S3Bucket) {
    this.client = settings.client;
  }

  async write(key: string, content: StorageContent, signal: EndSignal): Promise<StoredFile> {
    const { source, type, visibility, metadata } = content;
    const counted = new CountedSource(source);
    const target = this.toTarget(key, content);
    try {
      const etag = await upload(this.client, target, counted.chunks, content.size, signal);
      const modified = new Date(Math.floor(this.settings.clock.now() / 1000) * 1000);
      return { key, size: counted.size, type, etag: etag ?? "", modified, visibility, metadata };
    } catch (error) {
      // An error of the source is thrown unchanged.
      throw error === counted.failure ? error : toS3Error(error, signal);
    }
  }

  async open(key: string, range: StorageRange | undefined, signal: EndSignal): Promise<OpenedFile | undefined> {
    const Range = range && `bytes=${range.first}-${range.length === undefined ? "" : range.first + range.length - 1}`;
    const command = new aws.GetObjectCommand({ ...this.toObjectId(key), Range });
    try {
      const output = await this.client.send(command, toSendOptions(signal));
      const total = /\/(\d+)$/.exec(output.ContentRange ?? "")?.[1];
      const file = toStoredFile(key, output, total === undefined ? output.ContentLength : Number(total));
      // In Node the body is a stream of Node.
      return { file, body: output.Body as Readable };
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (getStatus(error) === 416) return this.openEmpty(key, range, signal);
      throw toS3Error(error, signal);
    }
  }

  async stat(key: string, signal: EndSignal): Promise<StoredFile | undefined> {
    try {
      const output = await this.client.send(new aws.HeadObjectCommand(this.toObjectId(key)), toSendOptions(signal));
      return toStoredFile(key, output, output.ContentLength);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw toS3Error(error, signal);
    }
  }

  async list(prefix: string, limit: number, cursor: string | undefined, signal: EndSignal): Promise<StorageListing> {
    const { bucket } = this.settings;
    const command = new aws.ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      MaxKeys: limit,
      ContinuationToken: cursor,
    });
    const { Contents = [], NextContinuationToken } = await this.withS3Errors(
      this.client.send(command, toSendOptions(signal)),
      signal,
    );
    const files = Contents.map(({ Key = "", Size = 0, LastModified = new Date(0) }) => ({
      key: Key,
      size: Size,
      modified: LastModified,
    }));
    return { files, cursor: NextContinuationToken };
  }

  async delete(key: string, signal: EndSignal): Promise<void> {
    const command = new aws.DeleteObjectCommand(this.toObjectId(key));
    await this.withS3Errors(this.client.send(command, toSendOptions(signal)), signal);
  }

  async copy(
    from: string,
    to: string,
    visibility: StorageVisibility | undefined,
    signal: EndSignal,
  ): Promise<StoredFile | undefined> {
    const file = await this.stat(from, signal);
    if (file === undefined) return undefined;
    const wanted = { ...file, key: to, visibility: visibility ?? file.visibility };
    if (file.size > MAX_COPY_BYTES) return this.copyByStream(from, wanted, signal);
    const source = `${this.settings.bucket}/${from}`.split("/").map(encodeURIComponent).join("/");
    const command = new aws.CopyObjectCommand({
      ...this.toTarget(to, wanted),
      CopySource: source,
      MetadataDirective: "REPLACE",
    });
    try {
      const { CopyObjectResult } = await this.client.send(command, toSendOptions(signal));
      const { ETag = file.etag, LastModified = file.modified } = CopyObjectResult ?? {};
      return { ...wanted, etag: ETag, modified: LastModified };
    } catch (error) {
      // Another caller has deleted or moved the original.
      if (isMissing(error)) return undefined;
      throw toS3Error(error, signal);
    }
  }

  async move(
    from: string,
    to: string,
    visibility: StorageVisibility | undefined,
    signal: EndSignal,
  ): Promise<StoredFile | undefined> {
    const copied = await this.copy(from, to, visibility, signal);
    if (copied !== undefined && from !== to) await this.delete(from, signal);
    return copied;
  }

  publicUrl(key: string): string {
    const { publicBase } = this.settings;
    if (publicBase === undefined)
      throw new FrameworkError("the storage gives out no URLs of public files; give it the option publicBase", {
        code: "E_STORAGE_PUBLIC_BASE",
      });
    return `${publicBase.replace(/\/$/, "")}/${key.split("/").map(encodeURIComponent).join("/")}`;
  }

  async signedUrl(key: string, { expires, disposition }: SignedDownload): Promise<string> {
    const command = new aws.GetObjectCommand({ ...this.toObjectId(key), ResponseContentDisposition: disposition });
    return this.withS3Errors(presigner.getSignedUrl(this.client, command, this.toLifetime(expires)), undefined);
  }

  async signedUpload(key: string, { expires, type, size }: SignedUploadTerms): Promise<SignedUpload> {
    const command = new aws.PutObjectCommand({ ...this.toObjectId(key), ContentType: type, ContentLength: size });
    const signing = presigner.getSignedUrl(this.client, command, {
      ...this.toLifetime(expires),
      signableHeaders: new Set(["host", "content-type", "content-length"]),
    });
    const url = await this.withS3Errors(signing, undefined);
    return { method: "PUT", url, headers: { "Content-Type": type, "Content-Length": String(size) } };
  }

  private toLifetime(expires: Date): { readonly expiresIn: number; readonly signingDate: Date } {
    const now = this.settings.clock.now();
    return { expiresIn: Math.ceil((expires.getTime() - now) / 1000), signingDate: new Date(now) };
  }

  private toObjectId(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.settings.bucket, Key: key };
  }

  private toTarget(key: string, content: Pick<StoredFile, "type" | "visibility" | "metadata">): S3Target {
    const { type, visibility, metadata } = content;
    const isPublic = visibility === "public";
    const encoded = mapValues(metadata, toHeaderValue);
    return {
      ...this.toObjectId(key),
      ContentType: type,
      // To read the access control list would cost another request.
      Metadata: isPublic ? { ...encoded, [VISIBILITY_NAME]: visibility } : encoded,
      ...(isPublic && this.settings.sendsAcl && { ACL: "public-read" as const }),
    };
  }

  /** A range of an empty file, and a range behind the end, are both 416. */
  private async openEmpty(
    key: string,
    range: StorageRange | undefined,
    signal: EndSignal,
  ): Promise<OpenedFile | undefined> {
    const file = await this.stat(key, signal);
    if (file === undefined) return undefined;
    resolveRange(range, file.size);
    throw new StorageRangeError(file.size);
  }

  private async copyByStream(from: string, file: StoredFile, signal: EndSignal): Promise<StoredFile | undefined> {
    const opened = await this.open(from, undefined, signal);
    return opened && this.write(file.key, { ...file, source: opened.body }, signal);
  }

  private async withS3Errors<T>(work: Promise<T>, signal: EndSignal): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw toS3Error(error, signal);
    }
  }
}

/** Counts the bytes of the content, and keeps the error of its source apart from those of the service. */
class CountedSource {
  size = 0;
  failure: unknown = undefined;
  readonly chunks: Uint8Array | AsyncIterable<Uint8Array>;

  constructor(source: Uint8Array | AsyncIterable<Uint8Array>) {
    if (source instanceof Uint8Array) this.size = source.byteLength;
    this.chunks = source instanceof Uint8Array ? source : this.countBytes(source);
  }

  private async *countBytes(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of source) {
        this.size += chunk.byteLength;
        yield chunk;
      }
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}

function toSendOptions(signal: EndSignal): { readonly abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}

type Described = Pick<HeadObjectCommandOutput, "ContentType" | "ETag" | "LastModified" | "Metadata">;

function toStoredFile(key: string, { ContentType, ETag, LastModified, Metadata }: Described, size = 0): StoredFile {
  const { [VISIBILITY_NAME]: visibility, ...metadata } = Metadata ?? {};
  return {
    key,
    size,
    type: ContentType ?? "application/octet-stream",
    etag: ETag ?? "",
    modified: LastModified ?? new Date(0),
    visibility: visibility === "public" ? "public" : "private",
    metadata: mapValues(metadata, parseHeaderValue),
  };
}

function mapValues(
  metadata: Readonly<Record<string, string>>,
  read: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, read(value)]));
}
