/**
 * The props of each page, once for both sides: handlers are checked against them, and so are the components in `pages`, which import the
 * types alone. A debug build also compares what it sends with them.
 */
import { contract, PageContracts, type PageLocale, shape } from "@stagecraft/framework/pages";

const link = shape.object({
  slug: shape.string,
  target: shape.string,
  createdAt: shape.string,
  visits: shape.number,
  /** Whether the visitor may remove it. */
  isOwn: shape.boolean,
});

const day = shape.object({ day: shape.string, visits: shape.number });

export const linksIndex = contract("links/index", {
  links: shape.object({ data: shape.array(link) }),
  total: shape.number,
  query: shape.string,
  /** For a developer: the stages that are on, and the log line of the request. */
  overview: shape.optional(shape.object({ stages: shape.array(shape.string), line: shape.string })),
});

export const mostVisited = contract("links/most-visited", {
  links: shape.array(shape.object({ slug: shape.string, target: shape.string, visits: shape.number })),
});

export const linksShow = contract("links/show", {
  link,
  /** The path of its picture. */
  picture: shape.optional(shape.string),
  /** The visits of each of the last days. */
  clicks: shape.optional(shape.array(day)),
});

/** The options of a ceremony of passkeys, for `PublicKeyCredential` of the browser, which asks for them when they are needed. */
const ceremony = shape.optional(shape.nullable(shape.object({})));

export const signUp = contract("account/sign-up", {});
export const sent = contract("account/sent", {
  email: shape.string,
  /** Whether a mail goes only to an address that has an account. */
  needsAccount: shape.boolean,
  /** The place of mails that no server sends. */
  mails: shape.nullable(shape.string),
});
export const confirmSignUp = contract("account/confirm-sign-up", { email: shape.string, needsPassword: shape.boolean });
export const signIn = contract("account/sign-in", { passkey: ceremony });
export const secondStep = contract("account/second-step", {
  hasTotp: shape.boolean,
  hasPasskey: shape.boolean,
  passkey: ceremony,
});
export const forgot = contract("account/forgot", {});
export const reset = contract("account/reset", { email: shape.string });
export const confirm = contract("account/confirm", { hasPassword: shape.boolean });

export const devices = contract("account/devices", {
  devices: shape.array(
    shape.object({
      id: shape.string,
      userAgent: shape.string,
      address: shape.string,
      isCurrent: shape.boolean,
      isRemembered: shape.boolean,
      lastUsedAt: shape.number,
    }),
  ),
});

export const security = contract("account/security", {
  hasTotp: shape.boolean,
  /** The number of recovery codes that are left. */
  codes: shape.number,
  passkeys: shape.array(shape.object({ id: shape.string, name: shape.string, usage: shape.string })),
  forSignIn: ceremony,
  forSecondStep: ceremony,
});

/** The accounts of a person at the provider. */
export const linked = contract("account/linked", {
  accounts: shape.array(
    shape.object({ id: shape.string, email: shape.string, createdAt: shape.number, lastUsedAt: shape.number }),
  ),
  hasPassword: shape.boolean,
});

/** The secret of an app is here once, when it is new. */
export const totp = contract("account/totp", {
  secret: shape.optional(shape.string),
  uri: shape.optional(shape.string),
});
export const recoveryCodes = contract("account/recovery-codes", {
  left: shape.number,
  codes: shape.optional(shape.array(shape.string)),
});

export const tokens = contract("account/tokens", {
  tokens: shape.array(
    shape.object({
      id: shape.string,
      name: shape.string,
      scopes: shape.array(shape.string),
      expiresAt: shape.nullable(shape.number),
      lastUsedAt: shape.nullable(shape.number),
    }),
  ),
  /** The text of a new token, once. */
  created: shape.optional(shape.string),
});

export const adminIndex = contract("admin/index", {
  isClosed: shape.boolean,
  figures: shape.object({ links: shape.number, visits: shape.number, uptimeSeconds: shape.number }),
  newest: shape.array(link),
});

/** `new Pages({ errors })` gives the status. */
export const errorsShow = contract("errors/show", { status: shape.number });

export const contracts = new PageContracts().register(
  linksIndex,
  mostVisited,
  linksShow,
  signUp,
  sent,
  confirmSignUp,
  signIn,
  secondStep,
  forgot,
  reset,
  confirm,
  devices,
  security,
  linked,
  totp,
  recoveryCodes,
  tokens,
  adminIndex,
  errorsShow,
);

/** The props of every page; an error page may be without them. */
export interface EveryPage {
  readonly account?: string | null;
  readonly isAdmin?: boolean;
  /** The name of the provider at which people may sign in, if there is one. */
  readonly provider?: string | null;
  readonly locale?: PageLocale;
  /** The messages of the language, as the text of a catalog. */
  readonly messages?: string;
  /** The host and port of short links. */
  readonly host?: string;
  /** For forms of a browser without scripts: the token, and the earlier input. */
  readonly token?: string | undefined;
  readonly entered?: Readonly<Record<string, string>> | undefined;
}
