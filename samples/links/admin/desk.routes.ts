/** The endpoints of the pages for operators. */
import { content, Get, Post, routes } from "@stagecraft/framework/routes";
import { z } from "zod";
import { operator } from "../accounts/guards.js";
import { formContent } from "../form-content.js";
import { Slug } from "../new-link.js";

const KeyForm = z.object({ key: z.string().max(200).catch("") });

const responses = { 303: content.redirect() };

export const desk = routes("desk", "/admin", {
  index: Get("/", { responses: { 200: content.page("admin/index", "admin/enter") } }),
  enter: Post("/enter", { body: formContent(KeyForm), responses }),
  close: Post("/close", { guards: [operator], responses }),
  open: Post("/open", { guards: [operator], responses }),
  remove: Post("/remove/{slug}", { guards: [operator], params: { slug: Slug }, responses }),
});
