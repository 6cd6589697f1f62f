/** The endpoints of the invoicing product. Pages and programs share them: a form and JSON have the same path. */
import { content, Get, Post, routes } from "@stagecraft/framework/routes";
import { apiToken, recentlyConfirmed, role, signedIn, verified } from "@stagecraft/framework/auth/guards";
import { z } from "zod";

// Each handler serves programs (JSON) and forms.
const toContents = <S extends z.ZodType>(schema: S) => ({
  "application/json": schema,
  "application/x-www-form-urlencoded": content.form(schema),
});

const email = z.object({ email: z.string() });
const password = z.object({ password: z.string().min(8) });
const credentials = z.object({ email: z.string(), password: z.string() });
const confirmed = [signedIn, recentlyConfirmed] as const;

export const account = routes("account", "/account", {
  signUpPage: Get("/sign-up"),
  signUp: Post("/sign-up", {
    body: toContents(email.extend(password.shape).extend({ name: z.string().min(1).max(100) })),
  }),
  openSignUp: Get("/sign-up/{id}"),
  confirmSignUp: Post("/sign-up/{id}", { body: toContents(z.object({ password: z.string().optional() })) }),
  signInPage: Get("/sign-in"),
  signIn: Post("/sign-in", { body: toContents(credentials.extend({ remember: z.boolean().default(false) })) }),
  secondStepPage: Get("/second-step"),
  secondStep: Post("/second-step", {
    body: toContents(z.object({ code: z.string().optional(), recoveryCode: z.string().optional() })),
  }),
  signOut: Post("/sign-out"),
  forgotPage: Get("/reset"),
  forgot: Post("/reset", { body: toContents(email) }),
  openReset: Get("/reset/{id}"),
  reset: Post("/reset/{id}", { body: toContents(password) }),
  sendLink: Post("/link", { body: toContents(email) }),
  openLink: Get("/link/{id}"),
  useLink: Post("/link/{id}"),

  show: Get("/", { guards: [signedIn] }),
  changePassword: Post("/password", { guards: [signedIn], body: toContents(password.extend({ current: z.string() })) }),
  changeEmail: Post("/email", { guards: confirmed, body: toContents(email) }),
  openEmail: Get("/email/{id}"),
  useEmail: Post("/email/{id}"),
  confirmPage: Get("/confirm", { guards: [signedIn] }),
  confirm: Post("/confirm", { guards: [signedIn], body: toContents(z.object({ password: z.string() })) }),
  remove: Post("/remove", { guards: confirmed }),
});

export const security = routes(
  "security",
  "/account",
  {
    devices: Get("/devices"),
    endOthers: Post("/devices/others/end"),
    endDevice: Post("/devices/{id}/end"),
    startTotp: Post("/totp", { guards: [recentlyConfirmed] }),
    confirmTotp: Post("/totp/confirm", {
      guards: [recentlyConfirmed],
      body: toContents(z.object({ code: z.string() })),
    }),
    removeTotp: Post("/totp/remove", { guards: [recentlyConfirmed] }),
    renewCodes: Post("/recovery-codes", { guards: [recentlyConfirmed] }),
    tokens: Get("/tokens"),
    createToken: Post("/tokens", {
      guards: [recentlyConfirmed],
      body: toContents(
        z.object({
          name: z.string(),
          scopes: z.array(z.enum(["invoices:read", "invoices:write"])),
          expiresAt: z.coerce.date().optional(),
        }),
      ),
    }),
    revokeToken: Post("/tokens/{id}/revoke"),
  },
  { guards: [signedIn] },
);

const usage = z.object({ usage: z.enum(["sign-in", "second-step"]) });
const proof = z.object({ response: z.unknown() });

export const keys = routes("keys", "/keys", {
  list: Get("/", { guards: [signedIn] }),
  start: Post("/", { guards: confirmed, body: usage }),
  add: Post("/add", { guards: confirmed, body: usage.extend({ response: z.unknown(), name: z.string() }) }),
  remove: Post("/{id}/remove", { guards: confirmed }),
  startSignIn: Post("/sign-in"),
  signIn: Post("/sign-in/finish", { body: proof }),
  startSecondStep: Post("/second-step"),
  secondStep: Post("/second-step/finish", { body: proof }),
});

const newInvoice = z.object({ customer: z.string().min(1).max(100), cents: z.int().min(1) });

export const invoices = routes(
  "invoices",
  "/invoices",
  {
    index: Get("/"),
    create: Post("/", { guards: [verified], body: toContents(newInvoice) }),
    pay: Post("/{id}/paid", { params: { id: z.int() } }),
    remove: Post("/{id}/remove", { params: { id: z.int() }, guards: [role("admin"), recentlyConfirmed] }),
  },
  { guards: [signedIn] },
);

export const members = routes(
  "members",
  "/members",
  {
    index: Get("/", { guards: [role("admin")] }),
    setRole: Post("/{id}/role", {
      guards: [role("owner"), recentlyConfirmed],
      body: toContents(z.object({ role: z.enum(["admin", "member"]) })),
    }),
    suspend: Post("/{id}/suspend", { guards: [role("owner"), recentlyConfirmed] }),
  },
  { guards: [signedIn] },
);

export const api = routes("api", "/api/v1/invoices", {
  list: Get("/", { guards: [apiToken("invoices:read")], bearer: true }),
  create: Post("/", { guards: [apiToken("invoices:write")], bearer: true, body: newInvoice }),
});
