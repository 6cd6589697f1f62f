/** `S3Storage` on an S3 service that others wrote: OpenStack Swift. The faults of a service are in `s3-storage.spec.ts`. */
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { expect } from "chai";
import { S3Storage } from "../../../lib/storage/s3/s3-storage.js";
import { obeysStorage } from "../../../lib/testing/contracts/obeys-storage.js";
import { needs } from "../../support/machine.js";
import { SwiftServer } from "../../support/swift-server.js";

const BUCKET = "spec-bucket";
const MIB = 1_048_576;

describe("S3Storage on OpenStack Swift", function () {
  this.timeout(180_000);
  let server: SwiftServer;
  let storage: S3Storage;
  const made: S3Storage[] = [];
  const storageWith = (credentials: typeof SwiftServer.credentials): S3Storage => {
    const each = new S3Storage({ bucket: BUCKET, endpoint: server.url, credentials });
    made.push(each);
    return each;
  };

  before(needs("swift-proxy-server"));

  before(async () => {
    server = await SwiftServer.start();
    await createBucket(server.url);
    storage = storageWith(SwiftServer.credentials);
    await storage.start();
  });

  after(async () => {
    for (const each of made) each.stop();
    await server?.[Symbol.asyncDispose]();
  });

  it("is refused with a wrong key", async () => {
    const wrong = storageWith({ ...SwiftServer.credentials, secretAccessKey: "another" });
    let failure: unknown;

    await wrong.start().catch((error: unknown) => (failure = error));

    expect(failure).to.have.property("code", "E_STORAGE_UNAVAILABLE");
    expect((failure as Error).message).to.include("403");
  });

  it("obeys the contract of a storage", () => obeysStorage(storage));

  it("joins the parts of content whose size is not known", async () => {
    const parts = Array.from({ length: 11 }, (_, at) => Buffer.alloc(MIB, at));

    await storage.put("parts", asyncOf(parts));

    expect((await storage.bytes("parts", 11 * MIB)).equals(Buffer.concat(parts))).to.equal(true);
  });

  it("signs URLs that the service accepts, and refuses if a byte of them differs", async () => {
    await storage.put("signed", "content");
    const url = await storage.signedUrl("signed", { expiresMs: 60_000 });
    const signature = /X-Amz-Signature=([0-9a-f])/;

    const accepted = await fetch(url);
    const changed = await fetch(
      url.replace(signature, (_, digit: string) => `X-Amz-Signature=${digit === "0" ? "1" : "0"}`),
    );

    expect([accepted.status, await accepted.text()]).to.deep.equal([200, "content"]);
    await changed.body?.cancel();
    expect(changed.status).to.equal(403);
  });
});

async function createBucket(endpoint: string): Promise<void> {
  const client = new S3Client({
    endpoint,
    credentials: SwiftServer.credentials,
    region: "us-east-1",
    forcePathStyle: true,
  });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  client.destroy();
}

async function* asyncOf(chunks: readonly Buffer[]): AsyncIterable<Buffer> {
  yield* chunks;
}
