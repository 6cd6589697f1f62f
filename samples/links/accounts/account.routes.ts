/** The endpoints of signing up, in and out. */
import { content, Get, Post, routes } from "@stagecraft/framework/routes";
import { formContent } from "../form-content.js";
import { Credentials, NewPerson } from "./new-person.js";

const responses = { 303: content.redirect() };

export const account = routes("account", "/account", {
  signIn: Get("/sign-in", { responses: { 200: content.page("account/sign-in") } }),
  enter: Post("/sign-in", { body: formContent(Credentials), responses }),
  signUp: Get("/sign-up", { responses: { 200: content.page("account/sign-up") } }),
  join: Post("/sign-up", { body: formContent(NewPerson), responses }),
  leave: Post("/sign-out", { responses }),
});
