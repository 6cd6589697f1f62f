/**
 * The nonce of this request, by which an inline script or style shows the browser that it came from the application
 * (CSP level 3, section 2.3.1). Minted once a request where `SecurityHeaders.withCspNonce` is on.
 *
 * Shared caches must not store a page that carries one.
 *
 * @example
 * return Reply.html(`<script${CspNonce.of(ctx).attribute()}>start()</script>`);
 */
import { Extension, type Extensible } from "../../http/extension.js";
import { FrameworkError } from "../../errors/framework-error.js";

export class CspNonce {
  /** @param value 144 random bits in base64 */
  private constructor(readonly value: string) {}

  /** The request's nonce. Throws `E_CSP_NONCE`, a 500, where none is minted. */
  static of(ctx: Extensible): CspNonce {
    const nonce = minted.find(ctx);
    if (nonce === undefined) {
      throw new FrameworkError(
        "no CSP nonce on this request: turn it on with .securityHeaders(new SecurityHeaders().withCspNonce(template))",
        { code: "E_CSP_NONCE" },
      );
    }
    return nonce;
  }

  /** The request's nonce, or `undefined` where none is minted. */
  static find(ctx: Extensible): CspNonce | undefined {
    return minted.find(ctx);
  }

  /** @internal */
  static set(ctx: Extensible, value: string): void {
    minted.set(ctx, new CspNonce(value));
  }

  /** ` nonce="…"`, with the blank before it, to stand right behind the name of a tag. */
  attribute(): string {
    return ` nonce="${this.value}"`;
  }

  toString(): string {
    return this.value;
  }
}

const minted = new Extension<CspNonce>("CSP nonce");
