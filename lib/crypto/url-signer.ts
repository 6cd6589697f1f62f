/**
 * Signed URLs: links that only the application creates, each for one method, one path with its parameters, and a time. For a link in a
 * mail, a download, an unsubscription. Everyone who has the URL may use it until its deadline, any number of times; a link that works once
 * needs a record of its use.
 *
 * Not for the files of a storage, which has `signedUrl`, and not for requests of other services, which sign their bodies.
 *
 * @example
 * const signer = new UrlSigner(settings.APP_KEY, "https://shop.example");
 * const url = signer.sign("GET", invoices.show.url("7"), { expiresAt: new Date(clock.now() + 3_600_000) });
 * if (!signer.verify(ctx.method, ctx.url)) throw new ForbiddenError("The link is not valid, or not any more.");
 */
import { FrameworkError } from "../errors/framework-error.js";
import { checkOptionNames } from "../errors/option-names.js";
import type { SecretKeyMaterial } from "../errors/secret-keys.js";
import { createSetupError } from "../errors/setup-error.js";
import { Clock, SystemClock } from "../runtime/clock.js";
import { deriveKey, readKeys } from "./derived-key.js";
import { getParameterName, MAX_TARGET_LENGTH, SIGNING_PARAMETERS, splitTarget, TargetSigner } from "./signed-target.js";

export interface UrlSignerOptions {
  /** By default the clock of the machine. */
  readonly clock?: Clock;
}

export interface UrlSigningOptions {
  /** The last millisecond in which the URL is valid. */
  readonly expiresAt: Date;
}

const PURPOSE = "stagecraft signed url 1";
const METHOD = /^[A-Z][A-Z-]*$/;
/** Scheme, host and port of a web URL in ASCII (RFC 3986 section 3), without credentials. */
const ORIGIN_PART = /^https?:\/\/[\w.:[\]-]+/i;

/**
 * Two URLs are the same if they differ only in the spelling of their origin (`HTTPS://Shop.Example:443` is `https://shop.example`) and in
 * the order of parameters with different names. All else is compared byte for byte: a trailing slash, an empty parameter, `a` and `a=`, `+`
 * and `%20`, `%2f` and `%2F`, dot segments, repeated slashes. A URL with credentials or a fragment, with a character that a URL does not
 * have, or with more than 8,192 characters is never valid. A URL for GET is valid for HEAD too.
 */
export class UrlSigner {
  private readonly signer: TargetSigner;
  private readonly clock: Clock;

  /**
   * @param keys the first signs, all verify
   * @param origin of the application, as browsers send it: `https://shop.example`. It is a setting, because a client chooses its `Host`
   * @throws FrameworkError `E_CRYPTO_KEY`, without the key; `E_SIGNED_URL` for an origin that is none
   */
  constructor(
    keys: SecretKeyMaterial,
    private readonly origin: string,
    options: UrlSignerOptions = {},
  ) {
    checkOptionNames<UrlSignerOptions>(options, { clock: true }, "new UrlSigner");
    const [first, ...others] = readKeys(keys);
    if (!isWebOrigin(origin))
      throw createSetupError("E_SIGNED_URL", `${JSON.stringify(origin)} is no origin, such as https://shop.example`);
    const derived = [deriveKey(first, PURPOSE), ...others.map((key) => deriveKey(key, PURPOSE))] as const;
    this.signer = new TargetSigner(derived, PURPOSE, origin);
    this.clock = options.clock ?? new SystemClock();
  }

  /**
   * The absolute URL. Its last parameters are `expires`, in milliseconds, and `signature`.
   *
   * @param method in upper case, as requests have it
   * @param path with its query, spelt as browsers send it: `/invoices/7?as=pdf`
   * @throws FrameworkError `E_SIGNED_URL`
   */
  sign(method: string, path: string, { expiresAt }: UrlSigningOptions): string {
    if (!METHOD.test(method)) throw signingError(`${JSON.stringify(method)} is no method of a signed URL, such as GET`);
    if (!(expiresAt instanceof Date) || Number.isNaN(expiresAt.getTime()))
      throw signingError("expiresAt of a signed URL is no valid Date");
    const fault = findPathFault(path, this.origin);
    if (fault !== undefined) throw signingError(`a signed URL has a path with its query, and this one ${fault}`);
    const url = this.origin + this.signer.sign(method, path, expiresAt);
    if (url.length > MAX_TARGET_LENGTH) throw signingError(`a signed URL has at most ${MAX_TARGET_LENGTH} characters`);
    return url;
  }

  /**
   * Whether `sign` of one of the keys has created the URL for this method, and its deadline has not passed. Never throws.
   *
   * @param url absolute, or the target of a request as `ctx.url` has it, which counts as one of the origin
   */
  verify(method: string, url: string): boolean {
    // A JavaScript caller may pass any value.
    if (typeof url !== "string" || url.length > MAX_TARGET_LENGTH) return false;
    const target = url.startsWith("/") ? url : findTarget(url, this.origin);
    return target !== undefined && this.signer.verify(method, target, this.clock.now()) !== undefined;
  }
}

function isWebOrigin(origin: unknown): boolean {
  return (
    typeof origin === "string" &&
    URL.canParse(origin) &&
    /^https?:$/.test(new URL(origin).protocol) &&
    new URL(origin).origin === origin
  );
}

/** The rest of a URL of the origin. */
function findTarget(url: string, origin: string): string | undefined {
  const [start] = ORIGIN_PART.exec(url) ?? [];
  if (start === undefined || !URL.canParse(start) || new URL(start).origin !== origin) return undefined;
  return url.slice(start.length);
}

/** Never shows the path, which may have a token. */
function findPathFault(path: string, origin: string): string | undefined {
  if (typeof path !== "string" || !/^\/(?!\/)/.test(path)) return "does not begin with one slash";
  if (path.includes("#")) return "has a fragment, which no server gets";
  const url = origin + path;
  if (!URL.canParse(url) || new URL(url).href !== url) return "is not spelt as browsers send it: encode its values";
  const taken = splitTarget(path).pairs.find((pair) => SIGNING_PARAMETERS.has(getParameterName(pair)));
  return taken === undefined ? undefined : "has a parameter expires or signature";
}

function signingError(message: string): FrameworkError {
  return new FrameworkError(message, { code: "E_SIGNED_URL" });
}
