/** Paths, names and typed URLs: a leaf that everyone may import, a front end too. */
import { Get, Post, resource, routes } from "@stagecraft/framework";

/** The JSON API: `links.index`, `links.store`, `links.show`, `links.destroy`. */
export const links = resource("links", "/api/links", { only: ["index", "store", "show", "destroy"] });

/** The page for people. */
export const home = routes("home", "/", {
  index: Get("/"),
  shorten: Post("/shorten"),
  about: Get("/about"),
});

/** Where a short link leads. */
export const visit = Get("/to/{slug}", "visit");
