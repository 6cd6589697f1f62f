/** The common part of the flows by a link: what they inject, the mail that starts them, and the page that shows a link. */
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { Jobs } from "../../jobs/jobs.js";
import { AttemptLimits } from "../attempt-limits.js";
import { AuthSettings } from "../auth-settings.js";
import { CredentialNotices, findLanguageTag } from "../credential-notices.js";
import { refuseCrossSite } from "../cross-site.js";
import { Identities } from "../identities.js";
import type { Identity } from "../identity.js";
import { authMail } from "./auth-mail-jobs.js";
import { requireEmail } from "./new-credentials.js";
import { SignedLinks } from "./signed-links.js";
import { type SingleUseLink, SingleUseLinks } from "./single-use-links.js";

/** A link for the page that the mail leads to. */
export interface OpenLink {
  readonly email: string;
  readonly expiresAt: Date;
}

export abstract class LinkFlow {
  protected abstract readonly purpose: "sign-in" | "reset" | "email";

  protected readonly settings = inject(AuthSettings);
  protected readonly limits = inject(AttemptLimits);
  protected readonly identities = inject(Identities);
  protected readonly links = inject(SignedLinks);
  protected readonly rows = inject(SingleUseLinks);
  protected readonly jobs = inject(Jobs);
  protected readonly notices = inject(CredentialNotices);

  /** It spends nothing, so a program that opens links changes nothing. `undefined` for a link that is no valid one. */
  async find(ctx: Context, id: string): Promise<OpenLink | undefined> {
    const link = await this.links.find(ctx, id, this.purpose);
    return link && { email: link.email, expiresAt: new Date(link.expiresAt) };
  }

  /** @throws ForbiddenError (403) for a request of another site */
  protected refuseCrossSite(ctx: Context): void {
    refuseCrossSite(ctx, this.settings.config.url);
  }

  /** Spends a link, if its identity has the stamp of the link still: a changed password ends all links. */
  protected async spend(ctx: Context, id: string): Promise<readonly [SingleUseLink, Identity] | undefined> {
    const link = await this.links.spend(ctx, id, this.purpose);
    if (link?.userId === undefined) return undefined;
    const identity = await this.identities.find(link.userId);
    return identity !== undefined && identity.stamp === link.stamp ? [link, identity] : undefined;
  }
}

/** A flow that anybody may start with an address. */
export abstract class AddressLinkFlow extends LinkFlow {
  protected abstract override readonly purpose: "sign-in" | "reset";

  /**
   * Sends a link to the address of an account. It does and returns the same for every address.
   *
   * @throws ValidationError (422) for a text that is no address; otherwise the errors of `SignIn.withPassword`
   */
  async start(ctx: Context, { email }: { readonly email: string }): Promise<void> {
    this.refuseCrossSite(ctx);
    const address = requireEmail(email);
    await this.limits.count(ctx, `${this.purpose} link ${address}`);
    await this.jobs.dispatch(authMail, { kind: this.purpose, email: address, language: findLanguageTag(ctx) });
  }
}
