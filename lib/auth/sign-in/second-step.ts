/**
 * The port of the second step: whether a sign-in asks for one. A sign-in with a password ends with `{ kind: "second-step" }` then, and the
 * session remembers for ten minutes who has given the password.
 */
import { PROVIDED_BY } from "../../di/provided-by.js";
import { sessionKey } from "../../stages/session/session-value.js";
import type { SignInMethod } from "../session-identity.js";

export abstract class SecondStep {
  /** @internal */
  static readonly [PROVIDED_BY] = "...authentication({ users, keys })";
  abstract isRequired(userId: string): Promise<boolean>;
}

/** No user has a second step. The default of `authentication()`. */
export class NoSecondStep extends SecondStep {
  override isRequired(): Promise<boolean> {
    return Promise.resolve(false);
  }
}

/** A sign-in that waits for its second step. The value of a session, without a secret. */
export interface PendingSignIn {
  readonly userId: string;
  /** A changed password ends the sign-in. */
  readonly stamp: string;
  readonly method: SignInMethod;
  readonly remember: boolean;
  readonly expiresAt: number;
}

export const PENDING = sessionKey<PendingSignIn>("auth-pending");
export const PENDING_MS = 600_000;
