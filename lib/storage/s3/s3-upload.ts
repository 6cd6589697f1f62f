/**
 * Stores content in a bucket: in one request if its size is known, else in parts, with the `Upload` of `@aws-sdk/lib-storage`. The parts of
 * a failed upload are deleted before the error is thrown, so that they cost nothing. Those of a killed process stay until a rule of the
 * bucket deletes them.
 */
import type {
  CompleteMultipartUploadCommand,
  CompleteMultipartUploadCommandOutput,
  CompletedPart,
  CreateMultipartUploadCommand,
  CreateMultipartUploadCommandOutput,
  PutObjectCommandInput,
  S3Client,
} from "@aws-sdk/client-s3";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { describeThrown } from "../../errors/thrown-value.js";
import { StorageFullError } from "../storage-errors.js";
import { tracing } from "../../tracing/tracing.js";
import { client as aws, parts } from "./aws.js";
import { toS3Fault } from "./s3-error.js";

const log = tracing.target("framework::storage");

/** The request for the object, without its content. */
export type S3Target = Pick<PutObjectCommandInput, "Bucket" | "Key" | "ContentType" | "Metadata" | "ACL">;

type AnyCommand = Parameters<S3Client["send"]>[0];

/** The largest object of one request. */
const MAX_PUT_BYTES = 5_368_709_120;
const MIN_PART_BYTES = 5_242_880;
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
  const sending = new Sending(client, signal);
  if (source instanceof Uint8Array) return sending.put(target, source, source.byteLength);
  const body = Readable.from(source, { objectMode: false });
  try {
    if (size !== undefined && size <= MAX_PUT_BYTES) {
      // The SDK does not see an error of this stream.
      body.on("error", (error) => sending.fail(error));
      return await sending.put(target, body, size);
    }
    return await sending.putParts(target, body, size ?? 0);
  } catch (error) {
    throw sending.failure === undefined ? error : sending.failure.error;
  } finally {
    body.destroy();
  }
}

/** The requests that store one object. The first failure ends those that are under way. */
class Sending {
  failure: { readonly error: unknown } | undefined = undefined;
  private readonly stopped = new AbortController();
  private readonly signal: AbortSignal;
  private uploadId: string | undefined = undefined;

  constructor(
    private readonly client: S3Client,
    signal: AbortSignal | undefined,
  ) {
    this.signal = signal === undefined ? this.stopped.signal : AbortSignal.any([this.stopped.signal, signal]);
  }

  fail(error: unknown): void {
    this.failure ??= { error };
    this.stopped.abort();
  }

  async put(target: S3Target, body: Uint8Array | Readable, size: number): Promise<string | undefined> {
    const command = new aws.PutObjectCommand({ ...target, Body: body, ContentLength: size });
    const { ETag } = await this.client.send(command, { abortSignal: this.signal });
    return ETag;
  }

  /** @param size 0 if it is not known */
  async putParts(target: S3Target, body: Readable, size: number): Promise<string | undefined> {
    const sending = new parts.Upload({
      client: this.createUploadClient(),
      params: { ...target, Body: body },
      queueSize: MAX_CONCURRENT_PARTS,
      partSize: Math.max(MIN_PART_BYTES, Math.ceil(size / MAX_PARTS)),
      leavePartsOnError: true,
    });
    try {
      // It settles after the requests of all parts.
      const { ETag } = await sending.done();
      return ETag;
    } catch (error) {
      await this.deleteParts(target);
      throw error;
    }
  }

  /** `Upload` passes no signal to its requests. */
  private createUploadClient(): S3Client {
    const send = async (command: AnyCommand): Promise<unknown> => {
      try {
        return await this.sendUploadCommand(command);
      } catch (error) {
        this.fail(error);
        throw error;
      }
    };
    // The overloads of `send` do not fit a wrapper.
    return Object.create(this.client, { send: { value: send } }) as S3Client;
  }

  private async sendUploadCommand(command: AnyCommand): Promise<unknown> {
    if (command instanceof aws.CreateMultipartUploadCommand) return this.create(command);
    if (command instanceof aws.CompleteMultipartUploadCommand) return this.complete(command);
    if (command instanceof aws.UploadPartCommand && Number(command.input.PartNumber) > MAX_PARTS)
      throw new StorageFullError();
    return this.client.send(command, { abortSignal: this.signal });
  }

  /** Without a signal, because an upload whose identifier is lost cannot be deleted. */
  private async create(command: CreateMultipartUploadCommand): Promise<CreateMultipartUploadCommandOutput> {
    const output = await this.client.send(command);
    this.uploadId = output.UploadId;
    return output;
  }

  /** The response to a first attempt may be lost, and the service does not know the upload at the second one. */
  private async complete(
    command: CompleteMultipartUploadCommand,
  ): Promise<Pick<CompleteMultipartUploadCommandOutput, "ETag">> {
    const options = { abortSignal: this.signal };
    try {
      return await this.client.send(command, options);
    } catch (error) {
      if (!isUnknownUpload(error)) throw error;
      const { Bucket, Key, MultipartUpload } = command.input;
      const { ETag } = await this.client.send(new aws.HeadObjectCommand({ Bucket, Key }), options);
      if (ETag === undefined || ETag !== computePartsTag(MultipartUpload?.Parts ?? [])) throw error;
      return { ETag };
    }
  }

  /** The request has no signal, because the signal may have aborted. */
  private async deleteParts({ Bucket, Key }: S3Target): Promise<void> {
    if (this.uploadId === undefined) return;
    const command = new aws.AbortMultipartUploadCommand({ Bucket, Key, UploadId: this.uploadId });
    await this.client.send(command).catch((error: unknown) => {
      log.warn("the parts of a failed upload could not be deleted", describeThrown(toS3Fault(error)));
    });
  }
}

function isUnknownUpload(error: unknown): boolean {
  return error instanceof Error && error.name === "NoSuchUpload";
}

/** The tag of an object that S3 computes from the tags of its parts; `undefined` if these are no hashes of the content. */
function computePartsTag(uploaded: readonly CompletedPart[]): string | undefined {
  const tags = uploaded.map(({ ETag = "" }) => ETag.replaceAll('"', ""));
  if (!tags.every((tag) => /^[\da-f]{32}$/i.test(tag))) return undefined;
  const hash = createHash("md5")
    .update(Buffer.from(tags.join(""), "hex"))
    .digest("hex");
  return `"${hash}-${tags.length}"`;
}
