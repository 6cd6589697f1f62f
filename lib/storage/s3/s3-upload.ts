/**
 * Stores content in a bucket: in one request if its size is known, else in parts. The parts of a failed upload are deleted before the
 * error is thrown, so that they cost nothing. Those of a killed process stay until a rule of the bucket deletes them.
 *
 * Not the `Upload` of `@aws-sdk/lib-storage`: it rejects before the deletion of the parts is known, and sends content of a known size in
 * parts too.
 */
import type { CompletedPart, PutObjectCommandInput, S3Client } from "@aws-sdk/client-s3";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { describeThrown } from "../../errors/thrown-value.js";
import { StorageFullError } from "../storage-errors.js";
import { tracing } from "../../tracing/tracing.js";
import { client as aws } from "./aws.js";
import { toS3Fault } from "./s3-error.js";

const log = tracing.target("framework::storage");

/** The request for the object, without its content. */
export type S3Target = Pick<PutObjectCommandInput, "Bucket" | "Key" | "ContentType" | "Metadata" | "ACL">;

/** The smallest part, and the largest object of one request. */
const MIN_PART_BYTES = 5_242_880;
const MAX_PART_BYTES = 67_108_864;
const MAX_PUT_BYTES = 5_368_709_120;
const MAX_PARTS = 10_000;
const MAX_CONCURRENT_PARTS = 4;

/** Returns the entity tag. @throws the error of the source; the error of the SDK */
export async function upload(
  client: S3Client,
  target: S3Target,
  source: Uint8Array | AsyncIterable<Uint8Array>,
  size: number | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (source instanceof Uint8Array) return put(client, target, source, source.byteLength, signal);
  if (size !== undefined && size <= MAX_PUT_BYTES) return putStream(client, target, source, size, signal);
  return new PartedUpload(client, target, signal).run(source);
}

async function put(
  client: S3Client,
  target: S3Target,
  body: Uint8Array | Readable,
  size: number,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const command = new aws.PutObjectCommand({ ...target, Body: body, ContentLength: size });
  const { ETag } = await client.send(command, signal === undefined ? {} : { abortSignal: signal });
  return ETag;
}

/** The SDK does not see an error of the stream, so the error aborts the request. */
async function putStream(
  client: S3Client,
  target: S3Target,
  source: AsyncIterable<Uint8Array>,
  size: number,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const broken = new AbortController();
  const body = Readable.from(source, { objectMode: false });
  let failure: { readonly error: unknown } | undefined;
  body.on("error", (error) => {
    failure ??= { error };
    broken.abort();
  });
  const combinedSignal = signal === undefined ? broken.signal : AbortSignal.any([broken.signal, signal]);
  try {
    return await put(client, target, body, size, combinedSignal);
  } catch (error) {
    throw failure === undefined ? error : failure.error;
  } finally {
    body.destroy();
  }
}

/** One upload in parts, with a few of them under way at once. */
class PartedUpload {
  private readonly parts: CompletedPart[] = [];
  private readonly running = new Set<Promise<void>>();
  private startedParts = 0;
  private failure: { readonly error: unknown } | undefined = undefined;
  private readonly stopped = new AbortController();
  private readonly combinedSignal: AbortSignal;

  constructor(
    private readonly client: S3Client,
    private readonly target: S3Target,
    signal: AbortSignal | undefined,
  ) {
    this.combinedSignal = signal === undefined ? this.stopped.signal : AbortSignal.any([this.stopped.signal, signal]);
  }

  async run(source: AsyncIterable<Uint8Array>): Promise<string | undefined> {
    const parts = splitParts(source);
    const first = await parts.next();
    const whole = first.done === true ? new Uint8Array() : first.value;
    // Content below one part needs one request.
    if (whole.byteLength < MIN_PART_BYTES)
      return put(this.client, this.target, whole, whole.byteLength, this.combinedSignal);
    const { Bucket, Key } = this.target;
    const { UploadId } = await this.send(new aws.CreateMultipartUploadCommand(this.target));
    const id = { Bucket, Key, UploadId };
    try {
      await this.startPart(id, whole);
      for await (const part of parts) await this.startPart(id, part);
      await Promise.all(this.running);
      if (this.failure !== undefined) throw this.failure.error;
      return await this.complete(id);
    } catch (error) {
      await this.abort(id);
      throw error;
    }
  }

  /** The response to a first attempt may be lost, and the service does not know the upload at the second one. */
  private async complete(id: UploadId): Promise<string | undefined> {
    const Parts = this.parts.toSorted((one, other) => (one.PartNumber ?? 0) - (other.PartNumber ?? 0));
    try {
      const { ETag } = await this.send(new aws.CompleteMultipartUploadCommand({ ...id, MultipartUpload: { Parts } }));
      return ETag;
    } catch (error) {
      if (!isUnknownUpload(error)) throw error;
      const { Bucket, Key } = id;
      const { ETag } = await this.send(new aws.HeadObjectCommand({ Bucket, Key }));
      if (ETag === undefined || ETag !== computePartsTag(Parts)) throw error;
      return ETag;
    }
  }

  /** Starts a part as soon as fewer than `MAX_CONCURRENT_PARTS` are under way. */
  private async startPart(id: UploadId, body: Uint8Array): Promise<void> {
    while (this.running.size >= MAX_CONCURRENT_PARTS) await Promise.race(this.running);
    if (this.failure !== undefined) throw this.failure.error;
    const number = ++this.startedParts;
    if (number > MAX_PARTS) throw new StorageFullError();
    const work: Promise<void> = this.sendPart(id, number, body).finally(() => this.running.delete(work));
    this.running.add(work);
  }

  /** Never rejects: another part may be awaited first. */
  private async sendPart(id: UploadId, number: number, body: Uint8Array): Promise<void> {
    try {
      const command = new aws.UploadPartCommand({
        ...id,
        PartNumber: number,
        Body: body,
        ContentLength: body.byteLength,
      });
      const { ETag } = await this.client.send(command, { abortSignal: this.combinedSignal });
      this.parts.push({ PartNumber: number, ETag });
    } catch (error) {
      this.failure ??= { error };
    }
  }

  /**
   * A part that is stored after the abort would stay, so the running parts finish first. The request has no signal, because the signal may
   * have aborted.
   */
  private async abort(id: UploadId): Promise<void> {
    this.stopped.abort();
    await Promise.all(this.running);
    await this.client.send(new aws.AbortMultipartUploadCommand(id)).catch((error: unknown) => {
      log.warn("the parts of a failed upload could not be deleted", describeThrown(toS3Fault(error)));
    });
  }

  private send: S3Client["send"] = ((command: Parameters<S3Client["send"]>[0]) =>
    // The overloads of `send` do not fit a wrapper.
    this.client.send(command, { abortSignal: this.combinedSignal })) as S3Client["send"];
}

function isUnknownUpload(error: unknown): boolean {
  return error instanceof Error && error.name === "NoSuchUpload";
}

/** The tag of an object that S3 computes from the tags of its parts; `undefined` if these are no hashes of the content. */
function computePartsTag(parts: readonly CompletedPart[]): string | undefined {
  const tags = parts.map(({ ETag = "" }) => ETag.replaceAll('"', ""));
  if (!tags.every((tag) => /^[\da-f]{32}$/i.test(tag))) return undefined;
  const hash = createHash("md5")
    .update(Buffer.from(tags.join(""), "hex"))
    .digest("hex");
  return `"${hash}-${tags.length}"`;
}

interface UploadId {
  readonly Bucket: string | undefined;
  readonly Key: string | undefined;
  readonly UploadId: string | undefined;
}

/** Parts of equal size, the last one shorter. They grow with their number, so that 10 000 of them hold 450 GiB. */
async function* splitParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let count = 0;
  let part = Buffer.allocUnsafeSlow(MIN_PART_BYTES);
  let filled = 0;
  for await (const chunk of source) {
    for (let at = 0; at < chunk.byteLength;) {
      const taken = Math.min(chunk.byteLength - at, part.length - filled);
      part.set(chunk.subarray(at, at + taken), filled);
      at += taken;
      filled += taken;
      if (filled < part.length) continue;
      yield part;
      count += 1;
      part = Buffer.allocUnsafeSlow(Math.min(MIN_PART_BYTES * 2 ** Math.floor(count / 1000), MAX_PART_BYTES));
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}
