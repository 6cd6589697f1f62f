import {
  Context,
  type ContextOf,
  Controller,
  Events,
  Maintenance,
  Middleware,
  NotFoundError,
  redirect,
} from "@stagecraft/framework";
import { page } from "@stagecraft/framework/pages";
import { Flash } from "@stagecraft/framework/session";
import { adminIndex } from "../contracts.js";
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
  close(ctx: Context) {
    this.maintenance.engage();
    Flash.of(ctx).warning("The site is closed. Visitors see a page that says so.");
    return redirect().route(desk.index);
  }

  @desk.open
  open(ctx: Context) {
    this.maintenance.disengage();
    Flash.of(ctx).success("The site is open again.");
    return redirect().route(desk.index);
  }

  @desk.remove
  async remove(ctx: ContextOf<typeof desk.remove>) {
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link === undefined) throw new NotFoundError(`no link ${slug}`);
    await this.store.remove(slug);
    await this.events.emit(linkRemoved, link);
    Flash.of(ctx).info(`The link ${slug} is removed.`);
    return redirect().route(desk.index);
  }
}
