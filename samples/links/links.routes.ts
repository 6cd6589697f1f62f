/** Paths, names and typed URLs of the links. */
import { Get, Post, resource, routes } from "@stagecraft/framework";

/** The JSON API: `links.index`, `links.store`, `links.show`, `links.destroy`. */
export const links = resource("links", "/api/links", {
  only: ["index", "store", "show", "destroy"],
  bearer: true,
});

/** The pages for people. */
export const home = routes("home", "/", {
  index: Get("/"),
  shorten: Post("/shorten"),
  show: Get("/links/{slug}"),
  remove: Post("/remove/{slug}"),
  about: Get("/about"),
});

/** The ten most visited links: a page, and the same as JSON. */
export const ranking = routes("ranking", "/", { page: Get("/most-visited"), list: Get("/api/most-visited") });

/** The picture of a link. */
export const logos = routes("logos", "/links/{slug}/logo", { show: Get("/"), store: Post("/") });

/** A short link, which redirects to its target. */
export const visit = Get("/to/{slug}", "visit");
