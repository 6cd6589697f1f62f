/**
 * A file whose bytes stay the same while the application runs: the API document, and the files of its viewer. A client that has the file
 * gets 304 (RFC 9110 section 13).
 */
import { createHash } from "node:crypto";
import type { Context } from "../http/request/context.js";
import { evaluateConditions } from "../http/response/conditions.js";
import { Reply } from "../http/response/reply.js";

export class PreparedFile {
  private readonly etag: string;

  constructor(
    private readonly bytes: Uint8Array,
    private readonly type: string,
  ) {
    this.etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  }

  /** A later release has the same paths, so a cache asks each time. */
  respond(ctx: Context): Reply {
    const { bytes, etag, type } = this;
    const status = evaluateConditions(ctx.incoming.headers, { etag });
    if (status === 412) return Reply.empty(412);
    // A layer that reads the body gets a copy.
    ctx.sharedBytes = bytes;
    const reply = status === 304 ? Reply.empty(304) : Reply.of(bytes, type);
    return reply.header("Cache-Control", "no-cache").header("ETag", etag);
  }
}
