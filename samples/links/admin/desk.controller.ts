import { Context, type ContextOf, Controller, Events, Maintenance, Middleware, redirect } from "@stagecraft/framework";
import { page } from "@stagecraft/framework/pages";
import { adminIndex } from "../contracts.js";
import { createNoLinkError, say } from "../languages.js";
import { listedFor } from "../link-list.js";
import { linkRemoved } from "../link-removed.js";
import { LinkStore } from "../link-store.js";
import { NoStore } from "../no-store.js";
import { desk } from "./admin.routes.js";

const NEWEST = 10;

/** The page of administrators. */
@Controller(desk)
@Middleware(NoStore)
export class DeskController {
  constructor(
    private readonly store: LinkStore,
    private readonly maintenance: Maintenance,
    private readonly events: Events,
  ) {}

  @desk.index
  async index() {
    const [newest, totals] = await Promise.all([this.store.list({ count: NEWEST }), this.store.totals()]);
    return page(adminIndex, {
      isClosed: this.maintenance.isEngaged,
      figures: { ...totals, uptimeSeconds: Math.round(process.uptime()) },
      newest: newest.map((link) => listedFor(undefined, link)),
    }).encryptHistory();
  }

  @desk.close
  async close(ctx: Context) {
    this.maintenance.engage();
    await say(ctx, "warning", "flash-site-closed");
    return redirect().route(desk.index);
  }

  @desk.open
  async open(ctx: Context) {
    this.maintenance.disengage();
    await say(ctx, "success", "flash-site-open");
    return redirect().route(desk.index);
  }

  @desk.remove
  async remove(ctx: ContextOf<typeof desk.remove>) {
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link === undefined) throw await createNoLinkError(ctx, slug);
    await this.store.remove(slug);
    await this.events.emit(linkRemoved, link);
    await say(ctx, "info", "flash-link-removed", { slug });
    return redirect().route(desk.index);
  }
}
