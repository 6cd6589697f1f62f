import { randomUUID } from "node:crypto";
import { Clock, inject, Injectable, token } from "@stagecraft/framework";
import { AuthUsers, Identities } from "@stagecraft/framework/auth";
import { LinksDatabase } from "../database.js";

/** The addresses of administrators, from the environment, so that no page can make anybody one. */
export const ADMINS = token<readonly string[]>("ADMINS");

/** The people of the table `people`. The framework keeps their addresses, passwords and second steps. */
@Injectable()
export class People extends AuthUsers {
  private readonly db = inject(LinksDatabase);
  private readonly clock = inject(Clock);
  private readonly identities = inject(Identities);
  private readonly admins = inject(ADMINS);

  override async create(): Promise<string> {
    const person = { id: randomUUID(), created_at: new Date(this.clock.now()).toISOString() };
    await this.db.query.insertInto("people").values(person).execute();
    return person.id;
  }

  override async getRoles(userId: string): Promise<readonly string[]> {
    const identity = await this.identities.find(userId);
    return identity !== undefined && this.isAdmin(identity.email) ? ["admin"] : [];
  }

  /** Every address was confirmed before its account existed. */
  isAdmin(email: string): boolean {
    return this.admins.includes(email);
  }
}
