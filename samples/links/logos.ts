import {
  Context,
  Controller,
  Injectable,
  NotFoundError,
  On,
  PayloadTooLargeError,
  redirect,
  Reply,
  ValidationError,
} from "@stagecraft/framework";
import { Flash } from "@stagecraft/framework/session";
import { Storage } from "@stagecraft/framework/storage";
import { UploadedFile } from "@stagecraft/framework/uploads";
import { z } from "zod";
import { account } from "./accounts/account.routes.js";
import { findVisitor } from "./accounts/visitor.js";
import { linkRemoved } from "./link-removed.js";
import { LinkStore, type Link } from "./link-store.js";
import { home, logos } from "./links.routes.js";

const LIMITS = { bytes: 300_000, fileBytes: 262_144 };
/** Not `image/*`: browsers show these everywhere. */
const TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const NewLogo = z.object({
  logo: z.instanceof(UploadedFile, { message: "choose a picture" }).refine((file) => file.hasType(...TYPES), {
    message: "a PNG, JPEG, GIF or WebP picture",
  }),
});

/** The pictures of links. A key holds the time at which the link was created, so a new link under an old name has no old picture. */
@Injectable()
export class Logos {
  constructor(private readonly storage: Storage) {}

  async set(link: Link, logo: UploadedFile): Promise<void> {
    const { type, size } = logo;
    await this.storage.put(toKey(link), logo.stream(), { type, size });
  }

  /** The type was sniffed, and is one of `TYPES`. */
  async find(link: Link): Promise<Reply> {
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

@Controller(logos)
export class LogosController {
  constructor(
    private readonly store: LinkStore,
    private readonly pictures: Logos,
  ) {}

  @logos.show
  async show({ params }: Context<"slug">) {
    return this.pictures.find(await this.find(params.slug));
  }

  /** People give pictures to their own links. A wrong file leads back to the page, with the error at its field. */
  @logos.store
  async create(ctx: Context<"slug">) {
    const visitor = await findVisitor(ctx);
    if (visitor === undefined) return redirect().route(account.signIn);
    const link = await this.find(ctx.params.slug);
    if (link.owner !== visitor) throw new NotFoundError(`no link ${link.slug} of this account`);
    const again = redirect().route(home.show, link.slug);
    try {
      const { logo } = await ctx.uploads(NewLogo, LIMITS);
      await this.pictures.set(link, logo);
      Flash.of(ctx).success(`The link ${link.slug} has a picture.`);
      return again;
    } catch (error) {
      if (error instanceof ValidationError) return again.withErrors(error);
      if (error instanceof PayloadTooLargeError) return again.withErrors({ logo: "at most 256 KiB" });
      throw error;
    }
  }

  private async find(slug: string): Promise<Link> {
    const link = await this.store.find(slug);
    if (link === undefined) throw new NotFoundError(`no link ${slug}`);
    return link;
  }
}
