/** Paths, names and typed URLs of the pages for operators. */
import { Get, Post, routes } from "@stagecraft/framework";

export const desk = routes("desk", "/admin", {
  index: Get("/"),
  enter: Post("/enter"),
  close: Post("/close"),
  open: Post("/open"),
  remove: Post("/remove/{slug}"),
});
