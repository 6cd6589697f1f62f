import {
  Context,
  type ContextOf,
  Controller,
  Injectable,
  Middleware,
  middleware,
  type Next,
  On,
  PayloadTooLargeError,
  redirect,
  Reply,
  ValidationError,
} from "@stagecraft/framework";
import { Storage } from "@stagecraft/framework/storage";
import type { UploadedFile } from "@stagecraft/framework/uploads";
import { createNoLinkError, say, translate } from "./languages.js";
import { linkRemoved } from "./link-removed.js";
import { LinkStore, type Link } from "./link-store.js";
import { home, logos } from "./links.routes.js";

/** The pictures of links. A key holds the time at which the link was created, so a new link under an old name has no old picture. */
@Injectable()
export class Logos {
  constructor(private readonly storage: Storage) {}

  async set(link: Link, logo: UploadedFile): Promise<void> {
    const { type, size } = logo;
    await this.storage.put(toKey(link), logo.stream(), { type, size });
  }

  /** The type was sniffed, and is one that the contract allows. */
  async find(link: Link) {
    const { file, body } = await this.storage.get(toKey(link));
    return Reply.of(body, file.type).header("Cache-Control", "public, max-age=60");
  }

  /** The path of the picture. A new picture has a new path, so that a browser does not show the old one. */
  async findPath(link: Link): Promise<string | undefined> {
    const file = await this.storage.stat(toKey(link));
    return file && `${logos.show.url(link.slug)}?version=${file.modified.getTime()}`;
  }

  @On(linkRemoved)
  async remove(link: Link): Promise<void> {
    await this.storage.delete(toKey(link));
  }
}

function toKey({ slug, createdAt }: Link): string {
  return `logos/${slug}-${Date.parse(createdAt)}`;
}

/** Leads a wrong file back to the page of the link, with a message for people at its field. */
const BackToLink = middleware(async function backToLink(ctx: Context<"slug">, next: Next) {
  try {
    return await next();
  } catch (error) {
    const fault = findFault(error);
    if (fault === undefined) throw error;
    return redirect()
      .to(home.show.url(ctx.params.slug))
      .withErrors({ logo: await translate(ctx, fault) });
  }
});

/** The message for a wrong file. */
function findFault(error: unknown): string | undefined {
  if (error instanceof PayloadTooLargeError) return "field-picture-size";
  const [fault] = (error instanceof ValidationError && error.errors["body.logo"]) || [];
  if (fault === undefined) return undefined;
  return fault.code === "missing_file" ? "field-picture-missing" : "field-picture-type";
}

@Controller(logos)
export class LogosController {
  constructor(
    private readonly store: LinkStore,
    private readonly pictures: Logos,
  ) {}

  @logos.show
  async show(ctx: ContextOf<typeof logos.show>) {
    return this.pictures.find(await this.find(ctx));
  }

  /** People give pictures to their own links. */
  @logos.store
  @Middleware(BackToLink)
  async create(ctx: ContextOf<typeof logos.store>) {
    const link = await this.find(ctx);
    if (link.owner !== ctx.identity.userId) throw await createNoLinkError(ctx, link.slug);
    await this.pictures.set(link, ctx.input.body.logo);
    await say(ctx, "success", "flash-link-picture", { slug: link.slug });
    return redirect().route(home.show, link.slug);
  }

  private async find(ctx: Context<"slug">): Promise<Link> {
    const { slug } = ctx.params;
    const link = await this.store.find(slug);
    if (link === undefined) throw await createNoLinkError(ctx, slug);
    return link;
  }
}
