/**
 * Known providers as values. Each is `provider({ … })` with the issuer, the scopes and the profile of that provider; any option may be given
 * too.
 *
 * @example
 * const providers = [
 *   google({ clientId: settings.GOOGLE_ID, clientSecret: settings.GOOGLE_SECRET }),
 *   github({ clientId: settings.GITHUB_ID, clientSecret: settings.GITHUB_SECRET }),
 * ];
 */
import { createSetupError } from "../../errors/setup-error.js";
import { type ProfileSource, provider, type OAuthProvider, type ProviderOptions, type RawProfile } from "./provider.js";

/** The options of a preset: those of `provider` that it does not set, and others for what it sets. */
export type PresetOptions = Omit<ProviderOptions, "name" | "issuer" | "endpoints" | "readProfile"> &
  Partial<Pick<ProviderOptions, "name" | "readProfile">>;

export interface MicrosoftOptions extends PresetOptions {
  /** The id of the directory, whose accounts alone can sign in; or `common`, `organizations` or `consumers` for accounts of any. */
  readonly tenant: string;
}

export interface GitlabOptions extends PresetOptions {
  /** Of an installation of GitLab; the default is `https://gitlab.com`. */
  readonly issuer?: string;
}

/** Google: OpenID Connect. With `keepTokens` it also asks for a refresh token. */
export function google(options: PresetOptions): OAuthProvider {
  const parameters = options.keepTokens === true ? { access_type: "offline", prompt: "consent" } : {};
  const { parameters: more, ...others } = options;
  return provider({
    name: "google",
    issuer: "https://accounts.google.com",
    clientAuth: "client_secret_basic",
    parameters: { ...parameters, ...more },
    ...others,
  });
}

/**
 * Microsoft Entra: OpenID Connect. An administrator of any directory chooses the addresses in it, so an address counts as verified only if the
 * optional claim `xms_edov` says so. Configure that claim for the application, or pass `readProfile` for a directory that you trust.
 */
export function microsoft({ tenant, ...options }: MicrosoftOptions): OAuthProvider {
  if (typeof tenant !== "string" || !/^[\w.-]{1,100}$/.test(tenant))
    throw createSetupError("E_OAUTH_PROVIDER", "microsoft({ tenant }) takes the id of the directory, or common");
  const issuer = `https://login.microsoftonline.com/${tenant}/v2.0`;
  const profile = { readProfile: readMicrosoftProfile };
  return provider({ name: "microsoft", issuer, clientAuth: "client_secret_post", ...profile, ...options });
}

/** GitLab: OpenID Connect. */
export function gitlab(options: GitlabOptions): OAuthProvider {
  return provider({ name: "gitlab", issuer: "https://gitlab.com", clientAuth: "client_secret_basic", ...options });
}

/** GitHub: OAuth 2. The address is the primary one of the account. */
export function github(options: PresetOptions): OAuthProvider {
  return provider({
    name: "github",
    // As GitHub calls itself in its responses (RFC 9207).
    issuer: "https://github.com/login/oauth",
    endpoints: {
      authorization: "https://github.com/login/oauth/authorize",
      token: "https://github.com/login/oauth/access_token",
    },
    clientAuth: "client_secret_post",
    scopes: ["read:user", "user:email"],
    readProfile: readGithubProfile,
    ...options,
  });
}

/** Discord: OAuth 2. */
export function discord(options: PresetOptions): OAuthProvider {
  return provider({
    name: "discord",
    issuer: "https://discord.com",
    endpoints: {
      authorization: "https://discord.com/oauth2/authorize",
      token: "https://discord.com/api/oauth2/token",
    },
    clientAuth: "client_secret_basic",
    scopes: ["identify", "email"],
    readProfile: readDiscordProfile,
    ...options,
  });
}

function readMicrosoftProfile({ claims }: ProfileSource): RawProfile {
  const { xms_edov: isOwned } = claims;
  // The claim is a boolean or a text, by the kind of the account.
  return { email: claims["email"], isEmailVerified: isOwned === true || isOwned === "1", name: claims["name"] };
}

async function readGithubProfile({ fetchJson }: ProfileSource): Promise<RawProfile> {
  const user = toRecord(await fetchJson("https://api.github.com/user"));
  const emails = await fetchJson("https://api.github.com/user/emails");
  const primary = (Array.isArray(emails) ? emails.map(toRecord) : []).find((each) => each["primary"] === true);
  return {
    subject: toSubject(user["id"]),
    email: primary?.["email"],
    isEmailVerified: primary?.["verified"],
    name: user["name"] ?? user["login"],
  };
}

async function readDiscordProfile({ fetchJson }: ProfileSource): Promise<RawProfile> {
  const user = toRecord(await fetchJson("https://discord.com/api/users/@me"));
  const name = user["global_name"] ?? user["username"];
  return { subject: user["id"], email: user["email"], isEmailVerified: user["verified"], name };
}

/** GitHub numbers its users. */
function toSubject(id: unknown): string | undefined {
  return Number.isSafeInteger(id) ? String(id) : undefined;
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
