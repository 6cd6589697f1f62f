/**
 * The ceremonies of WebAuthn: what a browser is asked for, and whether its response is one. A challenge is in the session, for one ceremony
 * of one person, for five minutes, and counts once: a response that is wrong uses it up too.
 *
 * User verification is asked for and verified alike: a sign-in needs it, because the passkey counts as both steps.
 */
import { hash } from "node:crypto";
import { expectInstalled, type Peer, requirePeer } from "../../errors/optional-package.js";
import { findOrigin } from "../../http/request/origin.js";
import { inject } from "../../di/construction/inject.js";
import type { Context } from "../../http/request/context.js";
import { Session } from "../../stages/session/session.js";
import { sessionKey } from "../../stages/session/session-value.js";
import { AuthSettings } from "../auth-settings.js";
import type { SignedInIdentity } from "../guards.js";
import type { Passkey, PasskeyUsage } from "../passkey-store.js";
import { PasskeySettings } from "./passkey-settings.js";

const PEER: Peer = {
  entry: "@stagecraft/framework/auth/passkeys",
  name: "@simplewebauthn/server",
  from: "14.0.0",
  before: "15.0.0",
  install: "@simplewebauthn/server@14",
};

type Webauthn = typeof import("@simplewebauthn/server");

/** @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function expectWebauthn(): void {
  expectInstalled(PEER);
}

/** The JSON for `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` in the browser. */
export type PasskeyOptionsJson = object;

/** `confirmation`: a passkey of a sign-in, in the place of the password. */
export type ProofCeremony = PasskeyUsage | "confirmation";
type Ceremony = `register ${PasskeyUsage}` | ProofCeremony;

interface Challenge {
  readonly ceremony: Ceremony;
  /** `""` for a sign-in: the passkey says who it is. */
  readonly userId: string;
  readonly challenge: string;
  readonly expiresAt: number;
}

/** The response of a browser to a challenge. */
export interface PasskeyProof {
  readonly response: unknown;
  readonly challenge: string;
  readonly ceremony: ProofCeremony;
}

export type NewCredential = Pick<Passkey, "id" | "credentialId" | "publicKey" | "counter" | "transports">;

const CHALLENGE = sessionKey<Challenge>("auth-passkey");
const CHALLENGE_MS = 300_000;
const REGISTRATION = {
  "sign-in": { residentKey: "required", userVerification: "required" },
  "second-step": { residentKey: "discouraged", userVerification: "discouraged" },
} as const;

type RegistrationResponse = Parameters<Webauthn["verifyRegistrationResponse"]>[0]["response"];
type AuthenticationResponse = Parameters<Webauthn["verifyAuthenticationResponse"]>[0]["response"];

export class PasskeyCeremonies {
  private readonly settings = inject(PasskeySettings);
  private readonly auth = inject(AuthSettings);
  private loaded: Webauthn | undefined;

  async startRegistration(
    ctx: Context,
    { userId, email }: SignedInIdentity,
    usage: PasskeyUsage,
    existing: readonly Passkey[],
  ): Promise<PasskeyOptionsJson> {
    const options = await this.webauthn.generateRegistrationOptions({
      rpName: this.settings.name,
      rpID: this.rpId,
      userName: email,
      userDisplayName: email,
      userID: Uint8Array.from(toUserHandle(userId)),
      timeout: CHALLENGE_MS,
      attestationType: "none",
      excludeCredentials: existing.map(toDescriptor),
      authenticatorSelection: REGISTRATION[usage],
    });
    this.remember(ctx, { ceremony: `register ${usage}`, userId, challenge: options.challenge });
    return options;
  }

  /** @param allowed the passkeys of a second step; without them the person chooses one of the device */
  async startAuthentication(
    ctx: Context,
    ceremony: ProofCeremony,
    userId: string,
    allowed: readonly Passkey[],
  ): Promise<PasskeyOptionsJson> {
    const options = await this.webauthn.generateAuthenticationOptions({
      rpID: this.rpId,
      timeout: CHALLENGE_MS,
      allowCredentials: allowed.map(toDescriptor),
      userVerification: ceremony === "second-step" ? "discouraged" : "required",
    });
    this.remember(ctx, { ceremony, userId, challenge: options.challenge });
    return options;
  }

  /** Takes the challenge out of the session. `undefined` without one of this ceremony and this person. */
  async take(ctx: Context, ceremony: Ceremony, userId: string): Promise<string | undefined> {
    const session = Session.of(ctx);
    const found = await session.get(CHALLENGE);
    if (found === undefined) return undefined;
    session.forget(CHALLENGE);
    const isValid = found.ceremony === ceremony && found.userId === userId && found.expiresAt >= ctx.clock.now();
    return isValid ? found.challenge : undefined;
  }

  async verifyRegistration(
    response: unknown,
    challenge: string,
    usage: PasskeyUsage,
  ): Promise<NewCredential | undefined> {
    const result = await attempt(() =>
      this.webauthn.verifyRegistrationResponse({
        // The package checks it.
        response: response as RegistrationResponse,
        expectedChallenge: challenge,
        expectedOrigin: [...this.origins],
        expectedRPID: this.rpId,
        requireUserVerification: usage === "sign-in",
      }),
    );
    if (result?.verified !== true) return undefined;
    const { id, publicKey, counter, transports = [] } = result.registrationInfo.credential;
    return {
      id: toPasskeyId(id),
      credentialId: id,
      publicKey: Buffer.from(publicKey).toString("base64url"),
      counter,
      transports: transports.filter((each) => /^[a-z-]{1,20}$/.test(each)).slice(0, 8),
    };
  }

  /** The counter from now on; `undefined` for a response that is no proof, and for a counter that has gone back. */
  async verifyAuthentication(
    { response, challenge, ceremony }: PasskeyProof,
    passkey: Passkey,
  ): Promise<number | undefined> {
    const handle = readMember(readMember(response, "response"), "userHandle");
    const isOther = typeof handle === "string" && handle !== toUserHandle(passkey.userId).toString("base64url");
    if (isOther || (ceremony === "sign-in" && typeof handle !== "string")) return undefined;
    const result = await attempt(() =>
      this.webauthn.verifyAuthenticationResponse({
        // The package checks it.
        response: response as AuthenticationResponse,
        expectedChallenge: challenge,
        expectedOrigin: [...this.origins],
        expectedRPID: this.rpId,
        credential: {
          id: passkey.credentialId,
          publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, "base64url")),
          counter: passkey.counter,
        },
        requireUserVerification: passkey.usage === "sign-in",
      }),
    );
    return result?.verified === true ? result.authenticationInfo.newCounter : undefined;
  }

  private remember(ctx: Context, challenge: Omit<Challenge, "expiresAt">): void {
    Session.of(ctx).put(CHALLENGE, { ...challenge, expiresAt: ctx.clock.now() + CHALLENGE_MS });
  }

  /** The first ceremony loads the package: it has 250 files, a sixth of the start of an application, and changes globals. */
  private get webauthn(): Webauthn {
    return (this.loaded ??= requirePeer(PEER) as Webauthn); // Of the versions in the range.
  }

  /** Of the configuration: a client chooses the `Host` of a request. */
  private get origins(): readonly string[] {
    return this.settings.origins ?? [findOrigin(this.auth.config.url) ?? ""];
  }

  private get rpId(): string {
    return this.settings.rpId ?? new URL(this.auth.config.url).hostname;
  }
}

/** The id of the row for the response of a browser. */
export function readPasskeyId(response: unknown): string {
  const id = readMember(response, "id");
  return typeof id === "string" && id.length <= 2048 ? toPasskeyId(id) : "";
}

function toPasskeyId(credentialId: string): string {
  return hash("sha256", credentialId);
}

/** The form in which the store compares challenges. */
export function toChallengeHash(challenge: string): string {
  return hash("sha256", challenge);
}

/** 32 bytes for each user, which say nothing about them: a device shows them to everybody who has it. */
function toUserHandle(userId: string): Buffer {
  return hash("sha256", `user handle ${userId}`, "buffer");
}

function toDescriptor({ credentialId, transports }: Passkey) {
  return { id: credentialId, transports: [...transports] };
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** The package throws for every response that is no proof. */
async function attempt<T>(verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify();
  } catch {
    return undefined;
  }
}
