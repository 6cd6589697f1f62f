import { randomBytes } from "node:crypto";
import { z } from "zod";

const Slug = z.string().regex(/^[a-z0-9-]{3,32}$/, "3 to 32 lower-case letters, digits or hyphens");

/** What a client may send to make a link; shared by the JSON API and the page's form. */
export const NewLink = z.object({
  target: z.url({ protocol: /^https?$/, message: "an absolute http or https URL" }).max(2048),
  // An empty field of a form is a field nobody filled in.
  slug: z.preprocess((value) => (value === "" ? undefined : value), Slug.optional()),
});

/** A slug for those who do not choose one. */
export function freshSlug(): string {
  return randomBytes(4).toString("hex");
}
