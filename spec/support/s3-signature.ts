/**
 * Verifies the signature of a request to S3 (version 4, in a header or in the query) by the code of AWS: the request is signed again with
 * the right key, and must get the signature that it has.
 */
import { SignatureV4 } from "@smithy/signature-v4";
import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The only account. */
export const CREDENTIALS = { accessKeyId: "SPEC", secretAccessKey: "the key of the specs" } as const;

/** The hash interface of AWS's package, implemented with Node's hash. */
class Sha256 {
  private readonly hash: ReturnType<typeof createHash>;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    // The package gives text or bytes.
    this.hash = secret === undefined ? createHash("sha256") : (createHmac("sha256", secret as string) as never);
  }

  update(data: Uint8Array): void {
    this.hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.hash.digest();
  }

  reset(): void {}
}

/** Signs the request again, with the headers and the moment that it names, and compares. */
export async function isSigned(request: IncomingMessage): Promise<boolean> {
  const target = new URL(request.url ?? "/", "http://host");
  const query = Object.fromEntries(target.searchParams);
  const { authorization = "" } = request.headers;
  const isInQuery = query["X-Amz-Signature"] !== undefined;
  const part = (name: string): string => new RegExp(`${name}=([^, ]+)`).exec(authorization)?.[1] ?? "";
  const given = isInQuery ? query["X-Amz-Signature"] : part("Signature");
  const names = (isInQuery ? (query["X-Amz-SignedHeaders"] ?? "") : part("SignedHeaders")).split(";");
  const date = isInQuery ? query["X-Amz-Date"] : String(request.headers["x-amz-date"]);
  const signingDate = new Date((date ?? "").replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (given === undefined || given === "" || Number.isNaN(signingDate.getTime())) return false;
  const expiresIn = Number(query["X-Amz-Expires"]);
  if (isInQuery && Date.now() > signingDate.getTime() + expiresIn * 1000) return false;
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? "")]));
  const scope = { service: "s3", region: "us-east-1", credentials: CREDENTIALS, sha256: Sha256, uriEscapePath: false };
  const signer = new SignatureV4(scope);
  for (const name of ["Signature", "SignedHeaders", "Date", "Algorithm", "Credential", "Expires", "Security-Token"])
    if (isInQuery) delete query[`X-Amz-${name}`];
  const unsigned = {
    method: request.method ?? "",
    protocol: "http:",
    hostname: "127.0.0.1",
    path: target.pathname,
    query,
    headers,
  };
  const signableHeaders = new Set(names);
  if (!isInQuery) {
    const signed = await signer.sign(unsigned, { signingDate, signableHeaders });
    return signed.headers["authorization"]?.endsWith(`Signature=${given}`) === true;
  }
  const hash = String(request.headers["x-amz-content-sha256"] ?? query["X-Amz-Content-Sha256"] ?? "UNSIGNED-PAYLOAD");
  const presigned = await signer.presign(
    { ...unsigned, headers: { ...headers, "x-amz-content-sha256": hash } },
    {
      signingDate,
      expiresIn,
      signableHeaders,
      unsignableHeaders: new Set(["x-amz-content-sha256"]),
      unhoistableHeaders: new Set(["x-amz-content-sha256"]),
    },
  );
  return presigned.query?.["X-Amz-Signature"] === given;
}
