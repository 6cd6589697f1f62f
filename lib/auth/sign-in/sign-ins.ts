/** The sign-ins of a person on their devices. */
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { tracing } from "../../tracing/tracing.js";
import { AuthSettings } from "../auth-settings.js";
import { refuseCrossSite } from "../cross-site.js";
import { IDENTITY } from "../signed-in-session.js";

const log = tracing.target("framework::auth");

export class SignIns {
  protected readonly settings = inject(AuthSettings);

  /** Signs out here: the session ends, with all its values. Without a sign-in it does nothing. */
  async end(ctx: Context): Promise<void> {
    refuseCrossSite(ctx, this.settings.config.url);
    const session = Session.of(ctx);
    const current = await session.get(IDENTITY);
    if (current === undefined) return;
    session.flush();
    log.info("signed out", { user_id: current.userId });
  }
}
