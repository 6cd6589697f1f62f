/** The schema of the document that the scenarios `echo` and `echo-schema` send. */
import { z } from "zod";

export const Link = z.object({
  id: z.int().min(1),
  title: z.string().min(1).max(200),
  public: z.boolean(),
  expires: z.string().nullable(),
  tags: z.array(z.string()),
  owner: z.object({ name: z.string().min(1), email: z.email(), scores: z.array(z.number()) }),
  note: z.string(),
});
