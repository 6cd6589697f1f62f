/**
 * The links of mails. The URL of a link is signed when its mail is written; the row of the link holds no secret, so a copy of the database
 * opens nothing. GET and HEAD show a link, and POST spends it: programs that read mails open their links before a person does.
 *
 * Not for links that work more than once: those need no row, and a `UrlSigner` signs them.
 */
import { inject } from "../../di/construction/inject.js";
import { createSetupError } from "../../errors/setup-error.js";
import type { Context } from "../../http/request/context.js";
import { AuthSettings, type AuthLinkEndpoints, type LinkEndpoint } from "../auth-settings.js";
import {
  type LinkPurpose,
  type LinkValues,
  type SingleUseLink,
  SingleUseLinks,
  createLinkId,
} from "./single-use-links.js";

/**
 * The option of the endpoint, and the time in milliseconds for which a link is valid. A link that signs in has ten minutes (OWASP ASVS 5.0.0,
 * 6.5.5).
 */
const PURPOSES: Readonly<Record<LinkPurpose, readonly [option: keyof AuthLinkEndpoints, validMs: number]>> = {
  "sign-up": ["signUp", 86_400_000],
  "sign-in": ["signIn", 600_000],
  reset: ["reset", 3_600_000],
  email: ["email", 86_400_000],
};

export class SignedLinks {
  private readonly settings = inject(AuthSettings);
  private readonly links = inject(SingleUseLinks);

  /** Stores a new link. */
  async add(values: Omit<LinkValues, "id" | "expiresAt">): Promise<LinkValues> {
    const [, validMs] = PURPOSES[values.purpose];
    this.requireEndpoint(values.purpose);
    const link = { ...values, id: createLinkId(), expiresAt: this.now + validMs };
    await this.links.add(link);
    return link;
  }

  /** A link that a mail is written about; `undefined` once it is spent. */
  findForMail(id: string, purpose: LinkPurpose): Promise<SingleUseLink | undefined> {
    return this.links.find(id, purpose, this.now);
  }

  /** The URL for a mail. It is a secret: with it a program can spend the link. */
  toUrl({ id, purpose, expiresAt }: LinkValues): string {
    const { signer, config } = this.settings;
    const url = signer.sign("POST", this.requireEndpoint(purpose).url(id), { expiresAt: new Date(expiresAt) });
    const { pathname, search } = new URL(url);
    // The configured URL may have a path, which a proxy removes.
    return config.absoluteUrl(pathname + search);
  }

  /** The link of the request, which is not spent. `undefined` for one that is spent, has expired or is not signed. */
  async find(ctx: Context, id: string, purpose: LinkPurpose): Promise<SingleUseLink | undefined> {
    protectLink(ctx);
    return this.isSigned(ctx, id, purpose) ? this.links.find(id, purpose, this.now) : undefined;
  }

  /** Spends the link of the request. Of several requests one gets it. */
  async spend(ctx: Context, id: string, purpose: LinkPurpose): Promise<SingleUseLink | undefined> {
    protectLink(ctx);
    if (ctx.method === "GET" || ctx.method === "HEAD") throw createSetupError("E_AUTH_LINK_METHOD", SPENT_BY_GET);
    return this.isSigned(ctx, id, purpose) ? this.links.spend(id, purpose, this.now) : undefined;
  }

  private get now(): number {
    return this.settings.clock.now();
  }

  /** The page and the form have one URL, so its signature is that of the POST. It is the URL of this id and no other. */
  private isSigned(ctx: Context, id: string, purpose: LinkPurpose): boolean {
    const { originalUrl = "" } = ctx;
    const [path] = originalUrl.split("?", 1);
    return path === this.requireEndpoint(purpose).url(id) && this.settings.signer.verify("POST", originalUrl);
  }

  private requireEndpoint(purpose: LinkPurpose): LinkEndpoint {
    const [option] = PURPOSES[purpose];
    const endpoint = this.settings.links[option];
    if (endpoint !== undefined) return endpoint;
    const message = `authentication() needs the endpoint of this link: links: { ${option}: account.${option} }`;
    throw createSetupError("E_AUTH_LINK", message);
  }
}

const SPENT_BY_GET = "a link is spent by POST: a program that reads mails opens it by GET, and would spend it";

/** The URL is in the address bar: it must not get to other sites by `Referer`, nor into caches. */
function protectLink(ctx: Context): void {
  ctx.set({ "Referrer-Policy": "no-referrer", "Cache-Control": "no-store" });
}
