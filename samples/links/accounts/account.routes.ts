/** The endpoints of signing up, in and out. A page and its form have one path, so a refused form leads back to where it was. */
import { signedIn } from "@stagecraft/framework/auth/guards";
import { Get, Post, routes } from "@stagecraft/framework/routes";
import { z } from "zod";
import { formContent, redirected, shown } from "../form-content.js";

const Password = z.object({ password: z.string() });
const Credentials = Password.extend({ email: z.string() });
/** The flows have the whole rules. These name all wrong fields of a form at once, with the names of their texts in the catalogs. */
const Email = z.object({ email: z.string().includes("@", "email") });
const NewPassword = z.object({ password: z.string().min(8, "password") });
/** A browser does not send a box that is not checked. */
const Remember = z.object({ remember: z.literal("on").optional() });
/** The response of a device, as the browser gives it. */
const Proof = z.object({ response: z.unknown() });

export const account = routes("account", "/account", {
  signUp: Get("/sign-up", { responses: shown("account/sign-up") }),
  join: Post("/sign-up", { body: formContent(Email.extend(NewPassword.shape)), responses: shown("account/sent") }),
  confirmPage: Get("/sign-up/{id}", { responses: shown("account/confirm-sign-up") }),
  confirm: Post("/sign-up/{id}", { body: formContent(Password.partial()), responses: redirected }),
  signIn: Get("/sign-in", { responses: shown("account/sign-in") }),
  enter: Post("/sign-in", { body: formContent(Credentials.extend(Remember.shape)), responses: redirected }),
  enterByPasskey: Post("/passkey", { body: Proof.extend(Remember.shape), responses: redirected }),
  secondStep: Get("/second-step", { responses: shown("account/second-step") }),
  giveCode: Post("/second-step", { body: formContent(z.object({ code: z.string() })), responses: redirected }),
  givePasskey: Post("/second-step/passkey", { body: Proof, responses: redirected }),
  forgot: Get("/forgot", { responses: shown("account/forgot") }),
  sendReset: Post("/forgot", { body: formContent(Email), responses: shown("account/sent") }),
  resetPage: Get("/reset/{id}", { responses: shown("account/reset") }),
  reset: Post("/reset/{id}", { body: formContent(NewPassword), responses: redirected }),
  again: Get("/confirm", { guards: [signedIn], responses: shown("account/confirm") }),
  confirmAgain: Post("/confirm", { guards: [signedIn], body: formContent(Password), responses: redirected }),
  leave: Post("/sign-out", { responses: redirected }),
});
