/** The parts of an upload to S3, with answers of the service at exact moments. The uploads themselves are in `s3-storage.spec.ts`. */
import type { S3Client } from "@aws-sdk/client-s3";
import { expect } from "chai";
import { upload } from "../../../lib/storage/s3/s3-upload.js";
import { Gate } from "../../support/gate.js";

const PART = Buffer.alloc(5_242_880);

/** The part numbers of an upload whose first part is answered `steps` microtasks after the third part is there. */
async function numbersOf(steps: number): Promise<readonly unknown[]> {
  const [third, first] = [new Gate(), new Gate()];
  const numbers: unknown[] = [];
  const send = async ({ input }: { readonly input: { readonly PartNumber?: number } }): Promise<object> => {
    if (input.PartNumber === undefined) return { UploadId: "1" };
    numbers.push(input.PartNumber);
    if (numbers.length === 1) await first.passed;
    return { ETag: `"${input.PartNumber}"` };
  };
  const source = async function* (): AsyncIterable<Buffer> {
    yield PART;
    await third.passed;
    yield PART;
    yield PART;
  };
  // The client of the SDK has many overloads; the upload uses only `send`.
  const uploading = upload({ send } as unknown as S3Client, { Bucket: "b", Key: "k" }, source(), undefined, undefined);
  while (numbers.length === 0) await new Promise((resolve) => setImmediate(resolve));
  third.open();
  for (let step = 0; step < steps; step++) await Promise.resolve();
  first.open();
  await uploading;
  return numbers;
}

describe("an upload in parts", function () {
  this.timeout(60_000);
  it("gives each part its own number, in whichever order the service responds", async () => {
    for (let steps = 0; steps < 40; steps++) expect(await numbersOf(steps), `${steps} steps`).to.deep.equal([1, 2, 3]);
  });
});
