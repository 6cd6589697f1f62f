/**
 * The port of the persons and programs whose refresh tokens count: a stamp that changes when the tokens until now shall end. An application
 * with `authentication()` has `IdentitySubjects`; another one extends the port over its table of users.
 */
import { inject } from "../../di/construction/inject.js";
import { AuthUsers } from "../auth-users.js";
import { Identities } from "../identities.js";

export abstract class TokenSubjects {
  /** At most 64 characters; `undefined` for a subject that has left, or may not act now. */
  abstract findStamp(subject: string): Promise<string | undefined>;
}

/** Changed passwords, changed second steps and users who may not sign in end the tokens. */
export class IdentitySubjects extends TokenSubjects {
  private readonly identities = inject(Identities);
  private readonly users = inject(AuthUsers);

  override async findStamp(subject: string): Promise<string | undefined> {
    const identity = await this.identities.find(subject);
    return identity !== undefined && (await this.users.canSignIn(subject)) ? identity.stamp : undefined;
  }
}
