/** Paths, names and typed URLs. Any file may import it, a front end too, because it imports only the framework. */
import { Get, Post, resource, routes } from "@stagecraft/framework";

/** The JSON API: `links.index`, `links.store`, `links.show`, `links.destroy`. */
export const links = resource("links", "/api/links", { only: ["index", "store", "show", "destroy"] });

/** The page for people. */
export const home = routes("home", "/", {
  index: Get("/"),
  shorten: Post("/shorten"),
  remove: Post("/remove/{slug}"),
  about: Get("/about"),
});

/** A short link, which redirects to its target. */
export const visit = Get("/to/{slug}", "visit");
