/**
 * The props of each page, once for both sides: handlers are checked against them, and so are the components in `pages`, which import the
 * types alone. A debug build also compares what it sends with them.
 */
import { contract, PageContracts, shape } from "@stagecraft/framework/pages";

const link = shape.object({
  slug: shape.string,
  target: shape.string,
  createdAt: shape.string,
  visits: shape.number,
  /** Whether the visitor may remove it. */
  isOwn: shape.boolean,
});

const day = shape.object({ day: shape.string, visits: shape.number });

export const linksIndex = contract("links/index", {
  links: shape.object({ data: shape.array(link) }),
  total: shape.number,
  query: shape.string,
  /** For a developer: the stages that are on, and the log line of the request. */
  overview: shape.optional(shape.object({ stages: shape.array(shape.string), line: shape.string })),
});

export const mostVisited = contract("links/most-visited", {
  links: shape.array(shape.object({ slug: shape.string, target: shape.string, visits: shape.number })),
});

export const linksShow = contract("links/show", {
  link,
  /** The path of its picture. */
  picture: shape.optional(shape.string),
  /** The visits of each of the last days. */
  clicks: shape.optional(shape.array(day)),
});

export const signInPage = contract("account/sign-in", {});
export const signUpPage = contract("account/sign-up", {});

export const adminEnter = contract("admin/enter", {});

export const adminIndex = contract("admin/index", {
  isClosed: shape.boolean,
  figures: shape.object({ links: shape.number, visits: shape.number, uptimeSeconds: shape.number }),
  newest: shape.array(link),
});

/** `new Pages({ errors })` gives the status. */
export const errorsShow = contract("errors/show", { status: shape.number });

export const contracts = new PageContracts().register(
  linksIndex,
  mostVisited,
  linksShow,
  signInPage,
  signUpPage,
  adminEnter,
  adminIndex,
  errorsShow,
);

/** The props of every page; an error page may be without them. */
export interface EveryPage {
  readonly account?: string | null;
  readonly isAdmin?: boolean;
  /** The host and port of short links. */
  readonly host?: string;
  /** For forms of a browser without scripts: the token, and the earlier input. */
  readonly token?: string | undefined;
  readonly entered?: Readonly<Record<string, string>> | undefined;
}
