/**
 * Stage layer: gives each request its session. After the inner stages, and before the head is sent, it saves the session, and
 * `SessionCookie` writes the `Set-Cookie` line. If the store fails, the response is a 503: no request continues with an empty session
 * instead.
 */
import { UnavailableError } from "../../errors/framework-error.js";
import { isForSharedCaches, isNotModified } from "../../http/request/cookie.js";
import type { Context } from "../../http/request/context.js";
import { reportUnlogged } from "../../http/failures/failed-request.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { refuseWithError } from "../../http/failures/refuse.js";
import { findProcessState, type PerProcess, type ProcessState } from "../../lifecycle/process-state.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import { profile } from "../../runtime/profile.js";
import { tracing } from "../../tracing/tracing.js";
import { Flash } from "./flash.js";
import { FlashOfRequest } from "./flash-port.js";
import { MemorySessionStore } from "./stores/memory-session-store.js";
import { hasWork, NOTHING_SAVED, saveSession } from "./session-save.js";
import type { SaveResult } from "./session-cookie.js";
import { Session, SessionOfRequest, type SessionSettings } from "./session.js";

const log = tracing.target("framework::session");

/** The shortest time between two log events about a failing store. */
const WARN_EVERY_MS = 10_000;

const IN_MEMORY = {
  message: "sessions are stored in memory: they are lost at a restart, and each process has its own",
};

export class SessionLayer extends StageLayer implements PerProcess {
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(
    /** @internal */
    readonly settings: SessionSettings,
  ) {
    super();
  }

  /** The subsystems that must be up before the first request. @internal */
  get subsystems(): readonly Subsystem[] {
    return this.settings.store.subsystems;
  }

  /** That of the store. */
  get perProcess(): ProcessState | undefined {
    return findProcessState(this.settings.store);
  }

  /** @internal */
  startWarnings(): readonly { readonly message: string }[] {
    return profile === "release" && this.settings.store instanceof MemorySessionStore ? [IN_MEMORY] : [];
  }

  override wrap(inner: Run): Run {
    const { settings } = this;
    return (ctx) => {
      const session = new Session(ctx, settings);
      const flash = new Flash(ctx, session);
      SessionOfRequest.set(ctx, session);
      FlashOfRequest.set(ctx, flash);
      const result = inner(ctx);
      return result === undefined
        ? this.finish(ctx, session, flash)
        : result.then(() => this.finish(ctx, session, flash));
    };
  }

  private finish(ctx: Context, session: Session, flash: Flash): void | Promise<void> {
    // The timeout has sent its response: changes of the handler are not saved.
    if (!ctx.mayChange) return undefined;
    if (session.failure !== undefined) return this.refuse(ctx, session);
    flash.settle();
    if (!hasWork(ctx, session)) {
      session.isClosed = true;
      // A response that the handler wrote to Node's response itself takes no more headers.
      if (!ctx.headIsSent) session.saveListener?.sessionSaved(NOTHING_SAVED, isForSharedCaches(ctx.raw));
      return undefined;
    }
    return this.save(ctx, session, isForSharedCaches(ctx.raw));
  }

  private async save(ctx: Context, session: Session, isPublic: boolean): Promise<void> {
    session.isClosed = true;
    let result: SaveResult;
    try {
      result = await saveSession(ctx, session, !isPublic && !isNotModified(ctx.raw));
    } catch {
      return this.refuse(ctx, session);
    }
    if (!ctx.mayChange) return undefined;
    if (ctx.headIsSent) {
      if (result.kind !== "nothing") log.warn("session cookie not set: the head was sent before the handler ended");
      return undefined;
    }
    if (isNotModified(ctx.raw)) {
      if (result.kind === "cookie" && result.isNew) log.warn("session cookie not set: a 304 has no cookie");
      return undefined;
    }
    const isStillPublic = isPublic && !makePrivate(ctx, result);
    this.settings.cookie.write(ctx.raw, result);
    session.saveListener?.sessionSaved(result, isStillPublic);
    return undefined;
  }

  private refuse(ctx: Context, session: Session): void {
    session.isClosed = true;
    const { failure } = session;
    const now = ctx.clock.monotonic();
    if (now - this.warnedAt >= WARN_EVERY_MS) {
      this.warnedAt = now;
      const error = failure instanceof UnavailableError ? failure.cause : failure;
      log.error("session store failed", { error });
      reportUnlogged(ctx, "session store failed", error);
    }
    if (ctx.mayChange && !ctx.headIsSent) refuseWithError(ctx, failure as UnavailableError, true);
  }
}

/** A cache would send the id of one visitor to all others. */
function makePrivate({ raw }: Context, { kind }: SaveResult): boolean {
  if (kind === "nothing") return false;
  log.warn("Cache-Control: public replaced by no-store: the response changes the session of a visitor");
  raw.setHeader("Cache-Control", "no-store");
  return true;
}
