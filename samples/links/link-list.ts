/** The list of links as a page shows it: those that match a search, a page at a time, and whether each is the visitor's own. */
import type { ScrollPage } from "@stagecraft/framework/pages";
import { z } from "zod";
import type { Link, LinkSlice } from "./link-store.js";

const PER_PAGE = 20;

/** The query of the list. A value without a meaning is ignored, because people edit addresses. */
export const ListQuery = z.object({
  q: z.string().trim().max(100).default("").catch(""),
  page: z
    .string()
    .regex(/^[1-9]\d{0,4}$/)
    .transform(Number)
    .default(1)
    .catch(1),
});

export interface ListedLink extends Pick<Link, "slug" | "target" | "createdAt" | "visits"> {
  readonly isOwn: boolean;
}

/** @param visitor the id of a person */
export function listedFor(visitor: string | undefined, link: Link): ListedLink {
  const { slug, target, createdAt, visits, owner } = link;
  return { slug, target, createdAt, visits, isOwn: owner !== undefined && owner === visitor };
}

/** @param links of the page, and the first of the next one, if there is one */
export function toPage(links: readonly ListedLink[], page: number): ScrollPage<ListedLink> {
  return {
    data: links.slice(0, PER_PAGE),
    currentPage: page,
    previousPage: page > 1 ? page - 1 : null,
    nextPage: links.length > PER_PAGE ? page + 1 : null,
  };
}

/** The links of a page, and one more, which tells whether another page follows. */
export function toSlice(query: string, page: number): LinkSlice {
  return { query, from: (page - 1) * PER_PAGE, count: PER_PAGE + 1 };
}
