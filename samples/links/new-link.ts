/** The input for a new link; the JSON API and the form share it. The catalogs have the texts of its faults, by the names that stand here. */
import { z } from "zod";

const LONGEST = 2048;

export const Slug = z
  .string()
  .regex(/^[a-z0-9-]{3,32}$/, "slug")
  .meta({ description: "The name of a link: 3 to 32 lower-case letters, digits or hyphens.", examples: ["tea"] });

/** A form sends an empty text for an empty field. */
export const NoSlug = z.literal("").transform(() => undefined);

export const NewLink = z.object({
  target: z
    .url({ protocol: /^https?$/, message: "url" })
    .max(LONGEST, "url")
    .meta({ examples: ["https://example.com/tea"] }),
  slug: NoSlug.or(Slug).optional(),
});

/** A random slug for a link without one. */
export function freshSlug(): string {
  return crypto.randomUUID().slice(0, 8);
}
