/**
 * Stage layer: adds the security headers to each response, refusals and failures included. A header that the response already has stays, so
 * a handler may set another value.
 *
 * The debug profile adds the same headers as the release profile. Do not enable HSTS for a host that must be reachable without TLS:
 * browsers then refuse plain HTTP for a year.
 *
 * @example
 * builder.securityHeaders(new SecurityHeaders().withHsts().withCspNonce("script-src 'self' 'nonce-{nonce}'"));
 */
import type { Exchange } from "../../http/request/exchange.js";
import type { ResponseHead, HeadCompleter } from "../../http/response/response-head.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { CspNonce } from "./csp-nonce.js";
import { RandomBatch } from "../../runtime/random-batch.js";
import { createSetupError } from "../../errors/setup-error.js";

const PLACEHOLDER = "{nonce}";
const POLICY = "Content-Security-Policy";
/** 144 bits; a multiple of 3 bytes, so that base64 needs no padding. */
const NONCE_BYTES = 18;
const NONCES_PER_BATCH = 256;

const ALWAYS = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "strict-origin-when-cross-origin"],
].flat();
const HSTS = ["Strict-Transport-Security", "max-age=31536000; includeSubDomains"];

export class SecurityHeaders extends StageLayer {
  private hsts = false;
  private policy: string | undefined;
  private template: readonly string[] | undefined;

  /** Adds `Strict-Transport-Security`: one year, subdomains included (RFC 6797). */
  withHsts(): this {
    this.hsts = true;
    return this;
  }

  /**
   * Sets the Content-Security-Policy. It replaces that of an earlier call of this method or `withCspNonce`.
   *
   * @throws FrameworkError `E_HEADER_VALUE` for an empty policy, and for one that is not ASCII on one line
   */
  withCsp(policy: string): this {
    const text = checkPolicy(policy);
    if (text.trim() === "")
      throw createSetupError(
        "E_HEADER_VALUE",
        "an empty Content-Security-Policy has no restriction; leave withCsp out, or write a policy",
      );
    this.policy = text;
    this.template = undefined;
    return this;
  }

  /**
   * Sets a Content-Security-Policy with a nonce: each `{nonce}` is replaced by 144 random bits, new for each request. A handler reads them
   * with `CspNonce.of(ctx)`. A 304 has no such policy: the stored body of the client retains the policy of the response that it came with.
   *
   * @throws FrameworkError `E_CSP_PLACEHOLDER` for a template without `{nonce}`, `E_HEADER_VALUE` for one that is not ASCII on one line
   */
  withCspNonce(template: string): this {
    const parts = checkPolicy(template).split(PLACEHOLDER);
    if (parts.length === 1)
      throw createSetupError(
        "E_CSP_PLACEHOLDER",
        `the template ${JSON.stringify(template)} has no {nonce}; write 'nonce-{nonce}' where it belongs, or use withCsp`,
      );
    this.template = parts;
    this.policy = undefined;
    return this;
  }

  override wrap(inner: Run): Run {
    const pairs = [...ALWAYS];
    if (this.hsts) pairs.push(...HSTS);
    if (this.policy !== undefined) pairs.push(POLICY, this.policy);
    if (this.template !== undefined) return wrapWithNonce(inner, pairs, this.template);
    const completer: HeadCompleter = { complete: (_exchange, head) => head.addMissing(pairs) };
    return (ctx) => {
      ctx.completeHeadWith(completer);
      return inner(ctx);
    };
  }
}

function wrapWithNonce(inner: Run, pairs: readonly string[], template: readonly string[]): Run {
  const nonces = RandomBatch.ofText(NONCE_BYTES, NONCES_PER_BATCH, (bytes) => bytes.toString("base64"));
  const completer = new HeadersWithNonce(pairs, template);
  return (ctx) => {
    CspNonce.set(ctx, nonces.next());
    ctx.completeHeadWith(completer);
    return inner(ctx);
  };
}

class HeadersWithNonce implements HeadCompleter {
  constructor(
    private readonly pairs: readonly string[],
    private readonly template: readonly string[],
  ) {}

  complete(exchange: Exchange, head: ResponseHead): void {
    head.addMissing(this.pairs);
    // A cache replaces the headers of its entry by those of a 304 (RFC 9111 section 3.2), and the body of that entry has an older nonce.
    if (exchange.raw.statusCode === 304) return;
    if (!head.has(POLICY)) head.set(POLICY, this.template.join(CspNonce.of(exchange).value));
  }
}

/** A policy is ASCII on one line (CSP level 3 section 2.2.1). JavaScript callers may pass any value. */
function checkPolicy(text: string): string {
  if (typeof text === "string" && /^[\x20-\x7e]*$/.test(text)) return text;
  throw createSetupError(
    "E_HEADER_VALUE",
    `${JSON.stringify(text)} cannot be a Content-Security-Policy; write it on one line, in ASCII (hosts in Punycode)`,
  );
}
