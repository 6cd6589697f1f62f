/** The endpoints: pages of the staff, the API of other services of the company, and that of the mobile app. */
import { bearer, issuer, signedIn } from "@stagecraft/framework/auth/guards";
import { content, Get, Post, routes } from "@stagecraft/framework/routes";
import { z } from "zod";

/** The company, whose tokens other services bring. */
export const company = issuer("company");
/** The desk, whose tokens its mobile app brings. */
export const desk = issuer("desk");

const credentials = z.object({ email: z.string(), password: z.string() });

export const account = routes("account", "/account", {
  signInPage: Get("/sign-in", { query: z.object({ problem: z.string().optional() }) }),
  signIn: Post("/sign-in", { body: content.form(credentials) }),
  start: Get("/sign-in/{provider}"),
  callback: Get("/callback/{provider}"),
  signUp: Post("/sign-up", { body: content.form(credentials) }),
  signUpPage: Get("/sign-up/{id}"),
  confirmSignUp: Post("/sign-up/{id}"),
  signOut: Post("/sign-out"),
  linked: Get("/linked", { guards: [signedIn] }),
  link: Get("/link/{provider}", { guards: [signedIn] }),
});

export const pages = routes("pages", "/desk", { home: Get("/"), profile: Get("/profile") }, { guards: [signedIn] });

const Ticket = z
  .object({ id: z.string(), subject: z.string(), requester: z.string(), status: z.enum(["open", "closed"]) })
  .meta({ id: "Ticket" });
const NewTicket = z.object({ subject: z.string().min(3), requester: z.email(), language: z.string().default("en") });

const mayRead = bearer(company, { scopes: ["tickets:read"] });
const mayWrite = bearer(company, { scopes: ["tickets:write"] });

export const tickets = routes("tickets", "/api/tickets", {
  list: Get("/", { guards: [mayRead], responses: { 200: z.array(Ticket) } }),
  show: Get("/{id}", { guards: [mayRead], responses: { 200: Ticket } }),
  store: Post("/", { guards: [mayWrite], bearer: true, body: NewTicket, responses: { 201: Ticket } }),
});

const Tokens = z.object({
  access_token: z.string(),
  token_type: z.literal("Bearer"),
  expires_in: z.int(),
  refresh_token: z.string(),
  scope: z.string(),
});
const TokenError = z.object({ error: z.string() });
const refreshForm = z.object({ refresh_token: z.string() });

export const mobile = routes("mobile", "/mobile", {
  signIn: Post("/sign-in", { csrf: "exempt", body: credentials, responses: { 200: Tokens, 401: TokenError } }),
  refresh: Post("/refresh", { csrf: "exempt", body: refreshForm, responses: { 200: Tokens, 400: TokenError } }),
  signOut: Post("/sign-out", { csrf: "exempt", body: refreshForm }),
  show: Get("/", { guards: [bearer(desk)], responses: { 200: z.object({ userId: z.string() }) } }),
});
