/**
 * Sign-in without a password, by a link to the address. A second step is asked for as with a password. Everybody with access to the mailbox
 * can sign in, as with a reset of the password.
 *
 * @example
 * const { kind } = await this.magicLinks.finish(ctx, ctx.params.id);
 */
import { inject } from "../../di/construction/inject.js";
import { PROVIDED_BY } from "../../di/provided-by.js";
import type { Context } from "../../http/request/context.js";
import type { Identity } from "../identity.js";
import { SignIn, type SignInResult } from "../sign-in/sign-in.js";
import { AddressLinkFlow } from "./link-flow.js";

/** `expired`: the link is spent, has expired, or was never one. */
export type MagicLinkResult = SignInResult | { readonly kind: "expired" };

export class MagicLink extends AddressLinkFlow {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys, links: { signIn } })";
  protected override readonly purpose = "sign-in";
  protected readonly signIn = inject(SignIn);

  /** @throws the errors of `SignIn.withPassword` */
  async finish(ctx: Context, id: string): Promise<MagicLinkResult> {
    this.refuseCrossSite(ctx);
    const identity = await this.identities.transaction(() => this.verify(ctx, id));
    return identity === undefined ? { kind: "expired" } : this.signIn.complete(ctx, identity, { method: "link" });
  }

  /** The identity of the link, whose address is verified now. */
  private async verify(ctx: Context, id: string): Promise<Identity | undefined> {
    const [, identity] = (await this.spend(ctx, id)) ?? [];
    if (identity === undefined) return undefined;
    await this.identities.setVerified(identity.userId, ctx.clock.now());
    return this.identities.find(identity.userId);
  }
}
