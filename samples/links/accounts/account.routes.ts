/** Paths, names and typed URLs of signing up, in and out. */
import { Get, Post, routes } from "@stagecraft/framework";

export const account = routes("account", "/account", {
  signIn: Get("/sign-in"),
  enter: Post("/sign-in"),
  signUp: Get("/sign-up"),
  join: Post("/sign-up"),
  leave: Post("/sign-out"),
});
