/**
 * Stage layer: `br` or `gzip`, as the client prefers, on bodies that gain by it. Sees the final body of every answer further in;
 * streams stay streams, and every chunk that comes is sent on at once.
 *
 * Not for answers that mix a secret with text of the client's choosing (the BREACH attack): send those with
 * `Cache-Control: no-transform`.
 *
 * @example
 * builder.compression({ threshold: 2048 });
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { settleBody } from "../kernel/answer.js";
import type { Context } from "../kernel/context.js";
import { lengthOf } from "../kernel/exchange.js";
import { Layer, type Run } from "../kernel/middleware.js";
import { isStream } from "../kernel/stream.js";
import { pickCoding, readAcceptEncoding, type Coding } from "./accept-encoding.js";
import { BoundedMemo } from "./bounded-memo.js";
import { compressionSettings, type CompressionOptions, type CompressionSettings } from "./compression-options.js";
import { isCompressible } from "./compressible.js";
import { Encoder } from "./encoder.js";
import { Varying } from "./varying.js";

type Choice = { readonly coding: Coding | undefined };

export class Compression extends Layer {
  private readonly settings: CompressionSettings;
  private readonly encoder: Encoder;
  private readonly varies = new Varying("Accept-Encoding");
  private readonly types = new BoundedMemo(isCompressible);
  private readonly choices = new BoundedMemo<Choice>((header) => ({ coding: pickCoding(readAcceptEncoding(header)) }));

  /** Throws `E_COMPRESSION_OPTION` for a number out of its range. */
  constructor(options: CompressionOptions = {}) {
    super();
    this.settings = compressionSettings(options);
    this.encoder = new Encoder(this.settings);
  }

  override wrap(inner: Run): Run {
    return (ctx) => {
      try {
        const result = inner(ctx);
        if (result !== undefined)
          return result.then(
            () => this.encode(ctx),
            (thrown: unknown) => this.pass(ctx, thrown),
          );
      } catch (thrown) {
        this.pass(ctx, thrown);
      }
      return this.encode(ctx);
    };
  }

  private encode(ctx: Context): void | Promise<void> {
    if (ctx.raw.headersSent || ctx.respond === false) return undefined;
    settleBody(ctx);
    const type = ctx.raw.getHeader("Content-Type") ?? ctx.naturalType;
    if (type === undefined || !this.types.of(String(type)) || isSettled(ctx.raw)) return undefined;
    ctx.completeHeadWith(this.varies);
    const coding = isWhole(ctx) ? this.codingFor(ctx.incoming) : undefined;
    return coding === undefined ? undefined : this.replace(ctx, coding);
  }

  /** A panic on its way to the backstop, whose problem is an answer that would be compressed if it were longer. */
  private pass(ctx: Context, thrown: unknown): never {
    ctx.completeHeadWith(this.varies);
    throw thrown;
  }

  private codingFor({ headers }: IncomingMessage): Coding | undefined {
    const header = headers["accept-encoding"];
    return header === undefined ? undefined : this.choices.of(header).coding;
  }

  private replace(ctx: Context, coding: Coding): void | Promise<void> {
    const { payload, raw } = ctx;
    const length = lengthOf(payload) ?? Number(raw.getHeader("Content-Length") ?? Infinity);
    if (length < this.settings.threshold || ctx.gone) return undefined;
    if (isStream(payload)) {
      put(ctx, coding, this.encoder.stream(coding, payload));
      return undefined;
    }
    // `settleBody` has left nothing else, and no body at all has no length.
    return this.replaceWhole(ctx, coding, payload as string | Uint8Array, length);
  }

  private async replaceWhole(ctx: Context, coding: Coding, body: string | Uint8Array, length: number): Promise<void> {
    const bytes = await this.encoder.whole(coding, body, length);
    if (bytes.byteLength < length) put(ctx, coding, bytes);
  }
}

/** Someone has decided about the encoding already. */
function isSettled(raw: ServerResponse): boolean {
  if (raw.hasHeader("Content-Encoding")) return true;
  const cacheControl = raw.getHeader("Cache-Control");
  return cacheControl !== undefined && /(?:^|,)[ \t]*no-transform[ \t]*(?:,|$)/i.test(String(cacheControl));
}

/** Whether there is a body, and all of it. */
function isWhole({ payload, raw: { statusCode }, incoming }: Context): boolean {
  if (payload === undefined || incoming.method === "HEAD") return false;
  return statusCode !== 204 && statusCode !== 205 && statusCode !== 206 && statusCode !== 304;
}

function put(ctx: Context, coding: Coding, body: unknown): void {
  const { raw } = ctx;
  raw.removeHeader("Content-Length");
  raw.removeHeader("Accept-Ranges");
  raw.setHeader("Content-Encoding", coding);
  const tag = raw.getHeader("ETag");
  // The bytes differ from those the strong tag stands for (RFC 9110 section 8.8.3.3).
  if (tag !== undefined && !String(tag).startsWith("W/")) raw.setHeader("ETag", `W/${String(tag)}`);
  ctx.payload = body;
}
