import { randomBytes } from "node:crypto";
import { z } from "zod";

const LONGEST = 2048;

const Slug = z.string().regex(/^[a-z0-9-]{3,32}$/, "3 to 32 lower-case letters, digits or hyphens");

/** What a client may send to make a link; shared by the JSON API and the page's form. */
export const NewLink = z.object({
  target: z
    .url({ protocol: /^https?$/, message: "an absolute http or https URL" })
    .max(LONGEST, `at most ${LONGEST} characters`),
  // An empty field of a form is a field nobody filled in.
  slug: z.preprocess((value) => (value === "" ? undefined : value), Slug.optional()),
});

/** The first thing that is wrong with each field. */
export function faultsOf(error: z.ZodError<z.input<typeof NewLink>>) {
  const { target, slug } = z.flattenError(error).fieldErrors;
  return { target: target?.[0], slug: slug?.[0] };
}

/** A slug for those who do not choose one. */
export function freshSlug(): string {
  return randomBytes(4).toString("hex");
}
