/** The endpoints of the sign-in at a provider, and of the accounts there that a person has linked. Links lead to the provider, because a policy stops forms. */
import { maybeSignedIn, recentlyConfirmed, signedIn } from "@stagecraft/framework/auth/guards";
import { content, Get, Post, routes } from "@stagecraft/framework/routes";
import { redirected, shown } from "../../form-content.js";

const careful = { guards: [signedIn, recentlyConfirmed] };
/** To a page of the site, and to the provider. */
const led = { 302: content.redirect(), 303: content.none() };

export const providers = routes("providers", "/account", {
  start: Get("/provider/{provider}", { responses: led }),
  callback: Get("/callback/{provider}", { guards: [maybeSignedIn], responses: led }),
  linked: Get("/linked", { ...careful, responses: shown("account/linked") }),
  link: Get("/link/{provider}", { ...careful, responses: led }),
  unlink: Post("/linked/{id}", { ...careful, responses: redirected }),
});
