/** The endpoints of signing up, in and out. */
import { content, Get, Post, routes } from "@stagecraft/framework/routes";
import { z } from "zod";
import { formContent } from "../form-content.js";
import { Credentials, NewPerson } from "./new-person.js";

/** The response to a form that asks whether its fields are right before it is sent; they are with 204. */
const WrongFields = z
  .object({ message: z.string(), errors: z.record(z.string(), z.array(z.string())) })
  .meta({ id: "WrongFields", description: "The messages at the fields of a form that is being filled in." });

const responses = { 303: content.redirect() };

export const account = routes("account", "/account", {
  signIn: Get("/sign-in", { responses: { 200: content.page("account/sign-in") } }),
  enter: Post("/sign-in", { body: formContent(Credentials), responses }),
  signUp: Get("/sign-up", { responses: { 200: content.page("account/sign-up") } }),
  join: Post("/sign-up", {
    body: formContent(NewPerson),
    responses: { ...responses, 204: content.none(), 422: WrongFields },
  }),
  leave: Post("/sign-out", { responses }),
});
