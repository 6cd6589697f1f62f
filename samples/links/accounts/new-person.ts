import { isMailAddress } from "@stagecraft/framework/mail";
import { z } from "zod";

/** The form of a sign-up. The upper limit of the password bounds the work of its hash. */
export const NewPerson = z.object({
  name: z.string().regex(/^[a-z0-9-]{3,32}$/, "3 to 32 lower-case letters, digits or hyphens"),
  password: z.string().min(8, "at least 8 characters").max(200, "at most 200 characters"),
  /** For a welcome mail. An empty field counts as no address. */
  email: z
    .literal("")
    .transform(() => undefined)
    .or(z.string().refine(isMailAddress, "an address such as ada@example.org"))
    .optional(),
});

/** The form of a sign-in, where every wrong entry gets the same response: fields that no account can have are `undefined`. */
export const Credentials = z
  .object({ name: z.string().max(32), password: z.string().max(200) })
  .optional()
  .catch(undefined);

export type NewPersonForm = z.output<typeof NewPerson>;
