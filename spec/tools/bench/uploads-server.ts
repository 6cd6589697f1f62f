/** Run by uploads.ts: a server that writes a body to a file by hand, and one that reads it as a form with `ctx.uploads`. */

import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { UploadedFile, type UploadFields, Uploads } from "@stagecraft/framework/uploads";

const [, , contender = "", folder = "", bytes = "0"] = process.argv;
const limit = Number(bytes) + 100_000;

if (contender === "pipeline") {
  const server = createServer((request, response) => {
    const path = join(folder, randomUUID());
    pipeline(request, createWriteStream(path))
      .then(() => rm(path))
      .then(() => response.end("done"))
      .catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  server.listen(0, "127.0.0.1", () => announce(server.address()));
} else {
  const server = createServer({ requestTimeout: 0 });
  await Application.create()
    .routes(new Routes([Route.post("/", (ctx: Context) => ctx.uploads().then(typeOfFile))]))
    .provide(
      provide(Uploads).useValue(new Uploads({ directory: folder, bytes: limit, fileBytes: limit, timeoutMs: 600_000 })),
    )
    .build()
    .serve(server.listen(0, "127.0.0.1", () => announce(server.address())));
}

function typeOfFile({ file }: UploadFields): string {
  return file instanceof UploadedFile ? file.type : "no file";
}

function announce(address: unknown): void {
  process.stdout.write(`${String((address as { readonly port: number }).port)}\n`);
}
