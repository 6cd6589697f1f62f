import { Context, Injectable, type Middleware, type Next } from "@stagecraft/framework";
import { precognitive } from "@stagecraft/framework/pages";
import { LinkStore } from "./link-store.js";
import { NewLink, NoSlug, Slug } from "./new-link.js";

/** Tells the form of a new link its wrong fields while it is filled in, also that a name is taken. It makes no link. */
@Injectable()
export class SlugCheck implements Middleware {
  private readonly check: Middleware;

  constructor(store: LinkStore) {
    const slug = Slug.refine(async (wanted) => (await store.find(wanted)) === undefined, "taken");
    this.check = precognitive(NewLink.extend({ slug: NoSlug.or(slug).optional() }));
  }

  handle(ctx: Context, next: Next) {
    return this.check.handle(ctx, next);
  }
}
