/** What a sign-in leaves in the session. Not for the check that it still holds: that is `SignedInSession`. */
import type { Sessions } from "../stages/session/sessions.js";
import { sessionKey } from "../stages/session/session-value.js";

/** How somebody has signed in, for the list of sign-ins and for events. */
export type SignInMethod = "password" | "link" | "sign-up" | "remember-me" | "passkey" | "second-step" | "provider";

/** The value of the session. It holds no secret. */
export interface SessionIdentity {
  readonly userId: string;
  readonly email: string;
  readonly isVerified: boolean;
  /** One sign-in on one device: sessions that remember-me opens share it. */
  readonly signInId: string;
  readonly stamp: string;
  readonly method: SignInMethod;
  /** Milliseconds since the Unix epoch, as all times. */
  readonly signedInAt: number;
  /** When the person has shown last who they are; 0 for never in this session. */
  readonly confirmedAt: number;
  /** When the stamp was compared last; 0 before the first request after the sign-in, and `UNCHECKED`. */
  readonly checkedAt: number;
}

/** For tests with a user who has no identity: there is no stamp to compare. */
export const UNCHECKED = Number.MAX_SAFE_INTEGER;

export const IDENTITY = sessionKey<SessionIdentity>("auth");

/** Ends the sessions of one sign-in in the store, and returns their number. */
export function endSignInSessions(sessions: Sessions, userId: string, signInId: string): Promise<number> {
  return sessions.endAll(userId, { except: async (session) => (await session.get(IDENTITY))?.signInId !== signInId });
}
