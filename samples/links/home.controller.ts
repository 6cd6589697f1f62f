import { ConflictError, Context, Controller, CspNonce, redirect, Reply } from "@stagecraft/framework";
import { homePage } from "./home.page.js";
import { LinkStore } from "./link-store.js";
import { home } from "./links.routes.js";
import { freshSlug, NewLink } from "./new-link.js";

/** The page for people: the links there are, and a form that makes another. */
@Controller(home)
export class HomeController {
  constructor(private readonly store: LinkStore) {}

  @home.index
  async index(ctx: Context) {
    return Reply.html(homePage(ctx.host, await this.store.all(), CspNonce.find(ctx)));
  }

  @home.shorten
  async shorten(ctx: Context) {
    const { target, slug = freshSlug() } = await ctx.form(NewLink);
    if ((await this.store.add(slug, target)) === undefined) throw new ConflictError("that name is taken");
    return redirect().route(home.index);
  }

  @home.about
  about() {
    return "A link shortener, and the example to copy from.\n";
  }
}
