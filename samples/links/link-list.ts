/** The list of links as a page shows it: those that match a search, a page at a time, and whether each is the visitor's own. */
import type { ScrollPage } from "@stagecraft/framework/pages";
import { z } from "zod";
import type { Link } from "./link-store.js";

const PER_PAGE = 20;

/** The query of the list. A value that means nothing counts as none, because people edit addresses. */
export const ListQuery = z.object({
  q: z.string().trim().max(100).catch(""),
  page: z.coerce.number().int().min(1).max(100_000).catch(1),
});

export interface ListedLink extends Pick<Link, "slug" | "target" | "createdAt" | "visits"> {
  readonly isOwn: boolean;
}

/** @param visitor the name of an account */
export function listedFor(visitor: string | undefined, link: Link): ListedLink {
  const { slug, target, createdAt, visits, owner } = link;
  return { slug, target, createdAt, visits, isOwn: owner !== undefined && owner === visitor };
}

export function pageOf(links: readonly ListedLink[], page: number): ScrollPage<ListedLink> {
  const start = (page - 1) * PER_PAGE;
  return {
    data: links.slice(start, start + PER_PAGE),
    currentPage: page,
    previousPage: page > 1 ? page - 1 : null,
    nextPage: start + PER_PAGE < links.length ? page + 1 : null,
  };
}

export function matching(links: readonly Link[], query: string): readonly Link[] {
  const wanted = query.toLowerCase();
  return links.filter(({ slug, target }) => slug.includes(wanted) || target.toLowerCase().includes(wanted));
}
