import { isMailAddress } from "@stagecraft/framework/mail";
import { z } from "zod";
import { BLANK, plainText } from "../plain-text.js";

const Username = z
  .string(BLANK)
  .min(1, BLANK)
  .regex(/^[\w.-]{0,40}$/, "is not 1 to 40 letters, digits, dots or hyphens");
const Email = z
  .string(BLANK)
  .min(1, BLANK)
  .refine((text) => text === "" || isMailAddress(text), "is not an address");
/** The bounds of NIST SP 800-63B section 5.1.1.2; the upper one also bounds the work of the hash. */
const Password = z
  .string(BLANK)
  .min(1, BLANK)
  .refine((text) => text === "" || text.length >= 8, "is shorter than 8 characters")
  .max(200, "is longer than 200 characters");
/** An empty text counts as no value. */
const Optional = plainText()
  .max(2000)
  .nullable()
  .transform((text) => (text === "" ? null : text));

export const NewUser = z.object({ user: z.object({ username: Username, email: Email, password: Password }) });

export const Login = z.object({
  user: z.object({ email: plainText().min(1, BLANK).max(254), password: z.string(BLANK).min(1, BLANK).max(200) }),
});

export const UserChange = z.object({
  user: z.object({ username: Username, email: Email, password: Password, bio: Optional, image: Optional }).partial(),
});

export type UserChanges = z.output<typeof UserChange>["user"];
