import { Clock, type Context, type ContextOf, Controller, inject, Middleware, redirect } from "@stagecraft/framework";
import { ApiTokens, Recovery, SignIns, Totp, type WithIdentity } from "@stagecraft/framework/auth";
import { Passkeys } from "@stagecraft/framework/auth/passkeys";
import { optional, page } from "@stagecraft/framework/pages";
import { backTo } from "../back-to.js";
import * as pages from "../contracts.js";
import { languages, say, translate } from "../languages.js";
import { profile } from "./profile.routes.js";

const DAY_MS = 86_400_000;
const NOT_ADDED = { refused: "field-code-not-now", expired: "field-code-late", exists: undefined };

/** The pages of an account. A secret is in the response that creates it, and nowhere else: a form responds with it in the place of a redirect. */
@Controller(profile)
@Middleware(backTo())
export class ProfileController {
  private readonly signIns = inject(SignIns);
  private readonly totps = inject(Totp);
  private readonly recovery = inject(Recovery);
  private readonly passkeys = inject(Passkeys);
  private readonly apiTokens = inject(ApiTokens);
  private readonly clock = inject(Clock);

  @profile.devices
  async devices(ctx: ContextOf<typeof profile.devices>) {
    const all = await this.signIns.list(ctx);
    const devices = all.map(({ signInId: id, userAgent, address, isCurrent, isRemembered, lastUsedAt }) => {
      return { id, userAgent, address, isCurrent, isRemembered, lastUsedAt };
    });
    return page(pages.devices, { devices }).encryptHistory();
  }

  @profile.endDevice
  async endDevice(ctx: ContextOf<typeof profile.endDevice>) {
    await this.signIns.endOne(ctx, ctx.params.id);
    return done(ctx, profile.devices, "flash-device-signed-out");
  }

  @profile.endOthers
  async endOthers(ctx: ContextOf<typeof profile.endOthers>) {
    await this.signIns.endOthers(ctx);
    return done(ctx, profile.devices, "flash-devices-signed-out");
  }

  @profile.security
  async security(ctx: ContextOf<typeof profile.security>) {
    const { userId } = ctx.identity;
    const options = (usage: "sign-in" | "second-step") => this.passkeys.startRegistration(ctx, { usage });
    return page(pages.security, {
      hasTotp: await this.totps.isAdded(userId),
      codes: await this.recovery.count(userId),
      passkeys: (await this.passkeys.list(ctx)).map(({ id, name, usage }) => ({ id, name, usage })),
      forSignIn: optional(() => options("sign-in")),
      forSecondStep: optional(() => options("second-step")),
    }).encryptHistory();
  }

  @profile.totp
  async totp({ identity }: ContextOf<typeof profile.totp>) {
    return (await this.totps.isAdded(identity.userId)) ? redirect().route(profile.security) : page(pages.totp, {});
  }

  @profile.addTotp
  async addTotp(ctx: ContextOf<typeof profile.addTotp>) {
    const { code } = ctx.input.body;
    const result = code === undefined ? await this.totps.start(ctx) : await this.totps.confirm(ctx, { code });
    if (result.kind === "added") return showCodes(result.recoveryCodes);
    if (result.kind !== "started") return startAgain(ctx, NOT_ADDED[result.kind]);
    return page(pages.totp, { secret: result.secret, uri: result.uri }).encryptHistory();
  }

  @profile.removeTotp
  async removeTotp(ctx: ContextOf<typeof profile.removeTotp>) {
    await this.totps.remove(ctx);
    return done(ctx, profile.security, "flash-app-removed");
  }

  @profile.codes
  async codes({ identity }: ContextOf<typeof profile.codes>) {
    return page(pages.recoveryCodes, { left: await this.recovery.count(identity.userId) });
  }

  @profile.renewCodes
  async renewCodes(ctx: ContextOf<typeof profile.renewCodes>) {
    return showCodes(await this.recovery.renew(ctx));
  }

  @profile.addPasskey
  async addPasskey(ctx: ContextOf<typeof profile.addPasskey>) {
    const { kind } = await this.passkeys.finishRegistration(ctx, ctx.input.body);
    if (kind === "added") return done(ctx, profile.security, "flash-passkey-added");
    return redirect()
      .route(profile.security)
      .withErrors({ passkey: await translate(ctx, "field-passkey-failed") });
  }

  @profile.removePasskey
  async removePasskey(ctx: ContextOf<typeof profile.removePasskey>) {
    await this.passkeys.remove(ctx, ctx.params.id);
    return done(ctx, profile.security, "flash-passkey-removed");
  }

  @profile.tokens
  tokens({ identity }: ContextOf<typeof profile.tokens>) {
    return this.showTokens(identity);
  }

  @profile.createToken
  async createToken(ctx: ContextOf<typeof profile.createToken>) {
    const { identity } = ctx;
    const { name, access: scopes, days } = ctx.input.body;
    const expiresAt = new Date(this.clock.now() + days * DAY_MS);
    const { tag: language } = await languages.of(ctx);
    const { text } = await this.apiTokens.create(identity.userId, { name, scopes, expiresAt, language });
    return this.showTokens(identity, text);
  }

  @profile.revokeToken
  async revokeToken(ctx: ContextOf<typeof profile.revokeToken>) {
    await this.apiTokens.revoke(ctx.identity.userId, ctx.params.id);
    return done(ctx, profile.tokens, "flash-token-revoked");
  }

  private async showTokens({ userId }: WithIdentity["identity"], created?: string) {
    const tokens = (await this.apiTokens.list(userId)).map(
      ({ id, name, scopes, expiresAt = null, lastUsedAt = null }) => {
        return { id, name, scopes, expiresAt, lastUsedAt };
      },
    );
    return page(pages.tokens, { tokens, ...(created !== undefined && { created }) }).encryptHistory();
  }
}

function showCodes(codes: readonly string[]) {
  return page(pages.recoveryCodes, { left: codes.length, codes }).encryptHistory();
}

/** An app that was added meanwhile is no fault. */
async function startAgain(ctx: Context, message: string | undefined) {
  const again = redirect().route(profile.totp);
  return message === undefined ? again : again.withErrors({ code: await translate(ctx, message) });
}

async function done(ctx: Context, to: { readonly url: () => string }, message: string) {
  await say(ctx, "success", message);
  return redirect().to(to.url());
}
