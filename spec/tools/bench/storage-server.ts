/** Run by storage.ts: a server that stores each body in the way of one contender. */

import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Application, type Context, Route, Routes } from "@stagecraft/framework";
import type { Storage } from "@stagecraft/framework/storage";
import { FsStorage } from "@stagecraft/framework/storage/fs";
import { S3Storage } from "@stagecraft/framework/storage/s3";
import { BUCKET, CREDENTIALS } from "../../support/s3-server.js";

const [, , contender = "", folder = "", endpoint = ""] = process.argv;
const path = join(folder, "file");
const client = new S3Client({
  endpoint,
  credentials: CREDENTIALS,
  region: "us-east-1",
  forcePathStyle: true,
  requestChecksumCalculation: "WHEN_REQUIRED",
  responseChecksumValidation: "WHEN_REQUIRED",
});
const bucket = { bucket: BUCKET, endpoint, credentials: CREDENTIALS };
const target = { Bucket: BUCKET, Key: "file" };
const sizeOf = ({ headers }: IncomingMessage): number => Number(headers["content-length"]);

const BARE: Readonly<Record<string, (request: IncomingMessage) => Promise<unknown>>> = {
  pipeline: (request) => pipeline(request, createWriteStream(path)),
  "pipeline and fsync": async (request) => {
    await pipeline(request, createWriteStream(path));
    await using file = await open(path);
    await file.sync();
  },
  "the SDK, size known": (request) =>
    client.send(new PutObjectCommand({ ...target, Body: request, ContentLength: sizeOf(request) })),
  "lib-storage, in parts": (request) => new Upload({ client, params: { ...target, Body: request } }).done(),
};

const OURS: Readonly<Record<string, (ctx: Context) => Promise<unknown>>> = {
  FsStorage: (ctx) => stored(new FsStorage({ root: folder }), ctx, undefined),
  "S3Storage, size known": (ctx) => stored(new S3Storage(bucket), ctx, sizeOf(ctx.req)),
  "S3Storage, in parts": (ctx) => stored(new S3Storage(bucket), ctx, undefined),
};

function stored(storage: Storage, ctx: Context, size: number | undefined): Promise<unknown> {
  return storage.put("file", ctx.req, size === undefined ? {} : { size });
}

const announce = (): void => {
  // A server on a port has such an address.
  process.stdout.write(`${(server.address() as { readonly port: number }).port}\n`);
};
const server = createServer({ requestTimeout: 0 });
const bare = BARE[contender];
const ours = OURS[contender];
if (bare !== undefined) {
  server.on("request", (request: IncomingMessage, response) => {
    bare(request).then(
      () => response.end("done"),
      () => response.destroy(),
    );
  });
  server.listen(0, "127.0.0.1", announce);
} else if (ours !== undefined) {
  const store = (ctx: Context): Promise<string> => ours(ctx).then(() => "done");
  await Application.create()
    .routes(new Routes([Route.put("/", store)]))
    .build()
    .serve(server.listen(0, "127.0.0.1", announce));
}
