/**
 * Stage layer: the security headers on every answer that passes it, refusals and failures included. A floor: each header is added
 * only where the answer lacks it, so a handler may say something else.
 *
 * Says what it is told in both profiles; HSTS on a host that must stay reachable without TLS locks its users out for a year.
 *
 * @example
 * builder.securityHeaders(new SecurityHeaders().withHsts().withCspNonce("script-src 'self' 'nonce-{nonce}'"));
 */
import type { Exchange } from "../../http/exchange.js";
import { FrameworkError } from "../../errors/framework-error.js";
import type { ResponseHead, HeadCompleter } from "../../http/head.js";
import { Layer, type Run } from "../../http/middleware.js";
import { CspNonce } from "./csp-nonce.js";
import { RandomBatch } from "../../runtime/random-batch.js";

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

export class SecurityHeaders extends Layer {
  private hsts = false;
  private policy: string | undefined;
  private template: readonly string[] | undefined;

  /** Adds `Strict-Transport-Security`: one year, subdomains included (RFC 6797). */
  withHsts(): this {
    this.hsts = true;
    return this;
  }

  /** Sets the Content-Security-Policy; the last call of this and `withCspNonce` wins. Throws `E_HEADER_VALUE` for no policy, and for what none may hold. */
  withCsp(policy: string): this {
    const text = policyText(policy);
    if (text.trim() === "") throw noPolicy();
    this.policy = text;
    this.template = undefined;
    return this;
  }

  /**
   * Sets a Content-Security-Policy in which every `{nonce}` becomes 144 fresh random bits a request, readable as `CspNonce.of(ctx)`.
   * Throws `E_CSP_PLACEHOLDER` for a template without `{nonce}`, `E_HEADER_VALUE` for what no policy may hold.
   */
  withCspNonce(template: string): this {
    const parts = policyText(template).split(PLACEHOLDER);
    if (parts.length === 1) throw noPlaceholder(template);
    this.template = parts;
    this.policy = undefined;
    return this;
  }

  override wrap(inner: Run): Run {
    const pairs = [...ALWAYS];
    if (this.hsts) pairs.push(...HSTS);
    if (this.policy !== undefined) pairs.push(POLICY, this.policy);
    if (this.template !== undefined) return withNonce(inner, pairs, this.template);
    const floor: HeadCompleter = { complete: (_exchange, head) => head.floor(pairs) };
    return (ctx) => {
      ctx.completeHeadWith(floor);
      return inner(ctx);
    };
  }
}

function withNonce(inner: Run, pairs: readonly string[], template: readonly string[]): Run {
  const nonces = RandomBatch.ofText(NONCE_BYTES, NONCES_PER_BATCH, (bytes) => bytes.toString("base64"));
  const floor = new FloorWithNonce(pairs, template);
  return (ctx) => {
    CspNonce.set(ctx, nonces.next());
    ctx.completeHeadWith(floor);
    return inner(ctx);
  };
}

class FloorWithNonce implements HeadCompleter {
  constructor(
    private readonly pairs: readonly string[],
    private readonly template: readonly string[],
  ) {}

  complete(exchange: Exchange, head: ResponseHead): void {
    head.floor(this.pairs);
    if (!head.has(POLICY)) head.set(POLICY, this.template.join(CspNonce.of(exchange).value));
  }
}

/** ASCII on one line (CSP level 3, section 2.2.1); hosts beyond it are written in Punycode. JavaScript callers may pass anything. */
function policyText(text: string): string {
  if (typeof text === "string" && /^[\x20-\x7e]*$/.test(text)) return text;
  throw new FrameworkError(
    `${JSON.stringify(text)} cannot be a Content-Security-Policy; write it on one line, in ASCII (hosts in Punycode)`,
    { code: "E_HEADER_VALUE" },
  );
}

function noPolicy(): FrameworkError {
  return new FrameworkError(
    "an empty Content-Security-Policy allows everything; leave withCsp out, or write a policy",
    {
      code: "E_HEADER_VALUE",
    },
  );
}

function noPlaceholder(template: string): FrameworkError {
  return new FrameworkError(
    `the template ${JSON.stringify(template)} has no {nonce}; write 'nonce-{nonce}' where it belongs, or use withCsp`,
    { code: "E_CSP_PLACEHOLDER" },
  );
}
