import { Context, Controller, NotFoundError, redirect, Reply, ValidationError } from "@stagecraft/framework";
import { Flash } from "@stagecraft/framework/session";
import { account } from "./accounts/account.routes.js";
import { visitorOf } from "./accounts/visitor.js";
import { attemptedBefore } from "./form.js";
import { homePage } from "./home.page.js";
import { LinkStore } from "./link-store.js";
import { home } from "./links.routes.js";
import { freshSlug, NewLink } from "./new-link.js";
import { Overview } from "./overview/overview.js";

/** The page for people: the list of links, and for those who have signed in a form for a new one. */
@Controller(home)
export class HomeController {
  constructor(
    private readonly store: LinkStore,
    private readonly overview: Overview,
  ) {}

  @home.index
  async index(ctx: Context) {
    const [visitor, links] = await Promise.all([visitorOf(ctx), this.store.all()]);
    const overview = this.overview.html(ctx, 200);
    return Reply.html(homePage({ host: ctx.host, visitor, links, overview }, await attemptedBefore(ctx)));
  }

  /** Leads back to the page: with the new link, or with an error beside each wrong field and the input. */
  @home.shorten
  async shorten(ctx: Context) {
    const owner = await visitorOf(ctx);
    if (owner === undefined) return toSignIn(ctx);
    const again = redirect().route(home.index);
    try {
      const { target, slug = freshSlug() } = await ctx.form(NewLink);
      const link = await this.store.add(slug, target, owner);
      if (link === undefined) return again.withErrors({ slug: "that name is taken" });
      Flash.of(ctx).success(`The link ${slug} is ready.`);
      return again;
    } catch (error) {
      if (error instanceof ValidationError) return again.withErrors(error);
      throw error;
    }
  }

  /** People remove their own links. Links of others do not exist for them. */
  @home.remove
  async remove(ctx: Context<"slug">) {
    const visitor = await visitorOf(ctx);
    if (visitor === undefined) return toSignIn(ctx);
    const { slug } = ctx.params;
    if ((await this.store.find(slug))?.owner !== visitor) throw new NotFoundError(`no link ${slug} of this account`);
    await this.store.remove(slug);
    Flash.of(ctx).info(`The link ${slug} is removed.`);
    return redirect().route(home.index);
  }

  @home.about
  about() {
    return "A link shortener, and the example to copy from.\n";
  }
}

function toSignIn(ctx: Context) {
  Flash.of(ctx).warning("Please sign in first.");
  return redirect().route(account.signIn);
}
