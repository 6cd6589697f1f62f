/** Devices, second step, API tokens and passkeys. */
import { type ContextOf, Controller, inject, NotFoundError, Reply, UnauthorizedError } from "@stagecraft/framework";
import { ApiTokens, Recovery, SignIns, Totp } from "@stagecraft/framework/auth";
import { Passkeys } from "@stagecraft/framework/auth/passkeys";
import { html } from "@stagecraft/framework/mail";
import { account, keys, security } from "./endpoints.js";
import { respond, createField, createForm, refuse, showPage } from "./pages.js";

@Controller(security)
export class SecurityController {
  private readonly signIns = inject(SignIns);
  private readonly totp = inject(Totp);
  private readonly recovery = inject(Recovery);
  private readonly apiTokens = inject(ApiTokens);

  @security.devices async devices(ctx: ContextOf<typeof security.devices>) {
    const all = await this.signIns.list(ctx);
    const rows = all.map(
      (each) =>
        html`<li>
          ${each.userAgent}${each.isCurrent ? " (this one)" : ""} ${each.isRemembered ? "remembered" : ""}
          ${createForm(ctx, security.endDevice.url(each.signInId), "Sign out there")}
        </li>`,
    );
    const content = html`<ul>
        ${rows}
      </ul>
      ${createForm(ctx, security.endOthers.url(), "Sign out everywhere else")}`;
    return showPage(ctx, { devices: all }, "Devices", content);
  }

  @security.endOthers async endOthers(ctx: ContextOf<typeof security.endOthers>) {
    await this.signIns.endOthers(ctx);
    return respond(ctx, security.devices.url(), { kind: "ended" }, "The other devices are signed out.");
  }

  @security.endDevice async endDevice(ctx: ContextOf<typeof security.endDevice>) {
    if (!(await this.signIns.endOne(ctx, ctx.params.id))) throw new NotFoundError("There is no such sign-in.");
    return respond(ctx, security.devices.url(), { kind: "ended" }, "The device is signed out.");
  }

  @security.startTotp async startTotp(ctx: ContextOf<typeof security.startTotp>) {
    const started = await this.totp.start(ctx);
    if (started.kind === "exists") return refuse(ctx, account.show.url(), "There is an app already.", 409);
    const content = html`<p><code>${started.secret}</code></p>
      <p><code>${started.uri}</code></p>
      ${createForm(ctx, security.confirmTotp.url(), "Add", [createField("code")])}`;
    return showPage(ctx, started, "Add an authenticator app", content);
  }

  @security.confirmTotp async confirmTotp(ctx: ContextOf<typeof security.confirmTotp>) {
    const result = await this.totp.confirm(ctx, ctx.input.body);
    if (result.kind !== "added")
      return refuse(ctx, account.show.url(), "The code is wrong, or the app was not started.", 422);
    return this.showCodes(ctx, result.recoveryCodes);
  }

  @security.removeTotp async removeTotp(ctx: ContextOf<typeof security.removeTotp>) {
    if (!(await this.totp.remove(ctx))) throw new NotFoundError("There is no authenticator app.");
    return respond(ctx, account.show.url(), { kind: "removed" }, "The app is removed.");
  }

  @security.renewCodes async renewCodes(ctx: ContextOf<typeof security.renewCodes>) {
    return this.showCodes(ctx, await this.recovery.renew(ctx));
  }

  @security.tokens async tokens(ctx: ContextOf<typeof security.tokens>) {
    const tokens = await this.apiTokens.list(ctx.identity.userId);
    const rows = tokens.map(
      ({ id, name, scopes }) =>
        html`<li>${name} ${scopes.join(", ")} ${createForm(ctx, security.revokeToken.url(id), "Revoke")}</li>`,
    );
    const scopes = ["invoices:read", "invoices:write"].map(
      (scope) => html`<label><input type="checkbox" name="scopes[]" value="${scope}" />${scope}</label> `,
    );
    const content = html`<ul>
        ${rows}
      </ul>
      ${createForm(ctx, security.createToken.url(), "Create", [createField("name"), ...scopes])}`;
    return showPage(ctx, { tokens }, "API tokens", content);
  }

  @security.createToken async createToken(ctx: ContextOf<typeof security.createToken>) {
    const { text, token } = await this.apiTokens.create(ctx.identity.userId, ctx.input.body);
    return showPage(ctx, { id: token.id, text }, "Your token", html`<p>Store it now: <code>${text}</code></p>`);
  }

  @security.revokeToken async revokeToken(ctx: ContextOf<typeof security.revokeToken>) {
    if (!(await this.apiTokens.revoke(ctx.identity.userId, ctx.params.id)))
      throw new NotFoundError("There is no such token.");
    return respond(ctx, security.tokens.url(), { kind: "revoked" }, "The token is revoked.");
  }

  private showCodes(ctx: ContextOf<typeof security.renewCodes>, recoveryCodes: readonly string[]) {
    const list = html`<ul>
      ${recoveryCodes.map((code) => html`<li><code>${code}</code></li>`)}
    </ul>`;
    return showPage(ctx, { recoveryCodes }, "Recovery codes", list);
  }
}

@Controller(keys)
export class KeysController {
  private readonly passkeys = inject(Passkeys);

  @keys.list list(ctx: ContextOf<typeof keys.list>) {
    return this.passkeys.list(ctx);
  }

  @keys.start start(ctx: ContextOf<typeof keys.start>) {
    return this.passkeys.startRegistration(ctx, ctx.input.body);
  }

  @keys.add add(ctx: ContextOf<typeof keys.add>) {
    return this.passkeys.finishRegistration(ctx, ctx.input.body);
  }

  @keys.remove remove(ctx: ContextOf<typeof keys.remove>) {
    return this.passkeys.remove(ctx, ctx.params.id);
  }

  @keys.startSignIn startSignIn(ctx: ContextOf<typeof keys.startSignIn>) {
    return this.passkeys.start(ctx);
  }

  @keys.signIn async signIn(ctx: ContextOf<typeof keys.signIn>) {
    const { kind } = await this.passkeys.finish(ctx, ctx.input.body);
    if (kind === "refused") throw new UnauthorizedError("This passkey does not sign in here.");
    return { kind };
  }

  @keys.startSecondStep async startSecondStep(ctx: ContextOf<typeof keys.startSecondStep>) {
    return (await this.passkeys.startSecondStep(ctx)) ?? Reply.json({ kind: "expired" }, 409);
  }

  @keys.secondStep async secondStep(ctx: ContextOf<typeof keys.secondStep>) {
    const { kind } = await this.passkeys.finishSecondStep(ctx, ctx.input.body);
    if (kind === "refused") throw new UnauthorizedError("This passkey does not sign in here.");
    return { kind };
  }
}
