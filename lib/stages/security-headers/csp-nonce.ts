/**
 * The nonce of a request (CSP level 3 section 2.3.1). Browsers run an inline script or style only when it has the nonce of the policy. Each
 * request gets a new nonce if `SecurityHeaders.withCspNonce` is called.
 *
 * Shared caches must not store a page with a nonce.
 *
 * @example
 * return Reply.html(`<script${CspNonce.of(ctx).attribute()}>start()</script>`);
 */
import { Extension, type Extensible } from "../../http/request/extension.js";
import { FrameworkError } from "../../errors/framework-error.js";

export class CspNonce {
  /** @param value 144 random bits in base64 */
  private constructor(readonly value: string) {}

  /**
   * The nonce of the request.
   *
   * @throws FrameworkError `E_CSP_NONCE` with status 500 if the request has no nonce
   */
  static of(ctx: Extensible): CspNonce {
    const nonce = requestNonce.find(ctx);
    if (nonce === undefined) {
      throw new FrameworkError(
        "no CSP nonce on this request: enable it with .securityHeaders(new SecurityHeaders().withCspNonce(template))",
        { code: "E_CSP_NONCE" },
      );
    }
    return nonce;
  }

  /** The nonce of the request; `undefined` if it has none. */
  static find(ctx: Extensible): CspNonce | undefined {
    return requestNonce.find(ctx);
  }

  /** @internal */
  static set(ctx: Extensible, value: string): void {
    requestNonce.set(ctx, new CspNonce(value));
  }

  /** ` nonce="…"` with a leading space, to be placed directly after the name of a tag. */
  attribute(): string {
    return ` nonce="${this.value}"`;
  }

  toString(): string {
    return this.value;
  }
}

const requestNonce = new Extension<CspNonce>("CSP nonce");
