/**
 * URLs of stored files that the application itself serves: those of public files, and signed ones for a limited time. The signature is that
 * of all signed URLs, `TargetSigner`, so a URL of one application, file or method is not valid for another.
 *
 * The origin comes from the setting and not from a request, because a client chooses its `Host`.
 *
 * Not for storages whose server creates and serves the URLs, such as S3.
 */
import { createSecretKey, type KeyObject } from "node:crypto";
import { TargetSigner } from "../crypto/signed-target.js";
import { ForbiddenError, type FrameworkError } from "../errors/framework-error.js";
import { createSetupError } from "../errors/setup-error.js";
import type { ServedUrls, SignedDownload, SignedTerms, SignedUpload, SignedUploadTerms } from "./storage-files.js";

/** The options of a storage whose URLs the application serves. */
export interface StorageUrlOptions {
  /** The URL below which the application serves the files with `serve`, such as `https://shop.example/files`. */
  readonly base: string;
  /** 32 bytes or more, or their 64 or more hexadecimal digits; the same in all instances. */
  readonly key: string | Uint8Array;
}

const MIN_KEY_BYTES = 32;
/** Separates these signatures from others under the same key. */
const PURPOSE = "stagecraft storage url 1";

export class StorageUrls implements ServedUrls {
  private readonly base: URL;
  private readonly signer: TargetSigner;

  /** @throws FrameworkError `E_STORAGE_URLS` */
  constructor({ base, key }: StorageUrlOptions) {
    this.base = readBase(base);
    this.signer = new TargetSigner([readKey(key)], PURPOSE, this.base.origin);
  }

  publicUrl(key: string): string {
    return this.base.origin + this.toPath(key);
  }

  download(key: string, { expires, disposition }: SignedDownload): string {
    return this.createSignedUrl("GET", key, expires, { disposition });
  }

  upload(key: string, { expires, type, size }: SignedUploadTerms): SignedUpload {
    const url = this.createSignedUrl("PUT", key, expires, { size: String(size), type });
    return { method: "PUT", url, headers: { "Content-Type": type, "Content-Length": String(size) } };
  }

  /**
   * Checks the signature of a request target. `undefined` if it has none.
   *
   * @throws ForbiddenError `E_STORAGE_SIGNATURE` if it is wrong, or the deadline has passed
   */
  verify(method: string, target: string, now: number): SignedTerms | undefined {
    if (!target.includes("?")) return undefined;
    const parameters = this.signer.verify(method, target, now);
    if (parameters === undefined) throw wrongSignature();
    const size = parameters.get("size");
    return {
      disposition: parameters.get("disposition") ?? undefined,
      type: parameters.get("type") ?? undefined,
      size: size === null ? undefined : Number(size),
    };
  }

  private createSignedUrl(
    method: string,
    key: string,
    expires: Date,
    parameters: Readonly<Record<string, string>>,
  ): string {
    const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return this.base.origin + this.signer.sign(method, `${this.toPath(key)}?${pairs.join("&")}`, expires);
  }

  private toPath(key: string): string {
    return `${this.base.pathname}${key.split("/").map(encodeURIComponent).join("/")}`;
  }
}

function wrongSignature(): ForbiddenError {
  return new ForbiddenError("The URL is not valid, or not any more.", { code: "E_STORAGE_SIGNATURE" });
}

function readBase(base: string): URL {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== "" ||
    url.hash !== "" ||
    url.username !== ""
  )
    throw wrongUrls("the base of its URLs is an absolute URL with a path, such as https://shop.example/files");
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

function readKey(key: string | Uint8Array): KeyObject {
  const isHex = typeof key === "string" && /^(?:[0-9a-f]{2})+$/i.test(key);
  const bytes = isHex ? Buffer.from(key, "hex") : key;
  if (bytes instanceof Uint8Array && bytes.byteLength >= MIN_KEY_BYTES) return createSecretKey(bytes);
  throw wrongUrls("the key of its signatures has 32 bytes or more, or their hexadecimal digits");
}

function wrongUrls(rule: string): FrameworkError {
  return createSetupError("E_STORAGE_URLS", `a storage: ${rule}`);
}
