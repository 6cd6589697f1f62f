/** The endpoints of people who have signed in: their devices, their second step and passkeys, and the tokens of their programs. */
import { recentlyConfirmed, signedIn } from "@stagecraft/framework/auth/guards";
import { Get, Post, routes } from "@stagecraft/framework/routes";
import { z } from "zod";
import { formContent, redirected, shown } from "../form-content.js";

/** What an unlocked device must not do alone. */
const careful = { guards: [recentlyConfirmed] };
const Codes = shown("account/recovery-codes");
const NewPasskey = z.object({ response: z.unknown(), usage: z.enum(["sign-in", "second-step"]), name: z.string() });

/** What a program may do. `maintenance` needs the role of an administrator besides. */
const ACCESS = { read: ["links:read"], write: ["links:read", "links:write"], maintenance: ["maintenance"] } as const;

const NewToken = z.object({
  name: z.string().trim().min(1, "token-name"),
  access: z.enum(["read", "write", "maintenance"]).transform((access) => ACCESS[access]),
  days: z.enum(["30", "90", "365"]).transform(Number),
});

export const profile = routes(
  "profile",
  "/account",
  {
    devices: Get("/", { responses: shown("account/devices") }),
    endOthers: Post("/devices/others", { responses: redirected }),
    endDevice: Post("/devices/{id}", { responses: redirected }),
    security: Get("/security", { ...careful, responses: shown("account/security") }),
    totp: Get("/totp", { ...careful, responses: shown("account/totp") }),
    /** Starts without a code, and adds the app by its first one. */
    addTotp: Post("/totp", {
      ...careful,
      body: formContent(z.object({ code: z.string().optional() })),
      responses: shown("account/totp", "account/recovery-codes"),
    }),
    removeTotp: Post("/totp/remove", { ...careful, responses: redirected }),
    codes: Get("/recovery-codes", { ...careful, responses: Codes }),
    renewCodes: Post("/recovery-codes", { ...careful, responses: Codes }),
    addPasskey: Post("/passkeys", { ...careful, body: NewPasskey, responses: redirected }),
    removePasskey: Post("/passkeys/{id}", { ...careful, responses: redirected }),
    tokens: Get("/tokens", { responses: shown("account/tokens") }),
    createToken: Post("/tokens", { ...careful, body: formContent(NewToken), responses: shown("account/tokens") }),
    revokeToken: Post("/tokens/{id}", { responses: redirected }),
  },
  { guards: [signedIn] },
);
