import { Clock, Inject, Injectable, token } from "@stagecraft/framework";
import { createHmac, timingSafeEqual } from "node:crypto";

export const TOKEN_KEY = token<string>("TOKEN_KEY");

const LIFETIME_MS = 30 * 86_400_000;
const SHAPE = /^(\d{1,12})\.(\d{13})\.([\w-]{43})$/;

/** Tokens that name a user until a time: `<id>.<expiry>.<signature>`. */
@Injectable()
export class Tokens {
  constructor(
    @Inject(TOKEN_KEY) private readonly key: string,
    private readonly clock: Clock,
  ) {}

  of(userId: number): string {
    const claim = `${userId}.${this.clock.now() + LIFETIME_MS}`;
    return `${claim}.${this.sign(claim)}`;
  }

  /** The id of the user; `undefined` for a token that is forged or old. */
  read(text: string): number | undefined {
    const [, id, expiry, signature] = SHAPE.exec(text) ?? [];
    if (id === undefined || signature === undefined || Number(expiry) < this.clock.now()) return undefined;
    const right = Buffer.from(this.sign(`${id}.${expiry}`));
    return timingSafeEqual(right, Buffer.from(signature)) ? Number(id) : undefined;
  }

  private sign(claim: string): string {
    return createHmac("sha256", this.key).update(claim).digest("base64url");
  }
}
