import { Injectable } from "@stagecraft/framework";
import { Passwords } from "@stagecraft/framework/auth";
import { UniqueViolationError } from "@stagecraft/framework/db";
import { Mailer } from "@stagecraft/framework/mail";
import { LinksDatabase } from "../database.js";
import type { NewPersonForm } from "./new-person.js";
import { Welcome } from "./welcome.js";

/** The accounts of people, with the hashes of their passwords. */
@Injectable()
export class People {
  static readonly capacity = 10_000;

  constructor(
    private readonly db: LinksDatabase,
    private readonly mailer: Mailer,
    private readonly passwords: Passwords,
  ) {}

  async has(name: string): Promise<boolean> {
    return (await this.find(name)) !== undefined;
  }

  /** Adds an account, and a welcome mail if there is an address: both or neither. False if the name is taken, or no account is left. */
  async add({ name, password, email }: NewPersonForm): Promise<boolean> {
    const person = { name, password: await this.passwords.hash(password) };
    try {
      return await this.db.transaction(async () => {
        if ((await this.count()) >= People.capacity) return false;
        await this.db.query.insertInto("people").values(person).execute();
        if (email !== undefined) await this.mailer.queue(new Welcome({ name }).to({ name, address: email }));
        return true;
      });
    } catch (error) {
      if (error instanceof UniqueViolationError) return false;
      throw error;
    }
  }

  async knows(name: string, password: string): Promise<boolean> {
    return this.passwords.verify(password, (await this.find(name))?.password);
  }

  private find(name: string) {
    return this.db.query.selectFrom("people").selectAll().where("name", "=", name).executeTakeFirst();
  }

  private async count(): Promise<number> {
    const query = this.db.query.selectFrom("people").select(({ fn }) => fn.countAll<number>().as("people"));
    return (await query.executeTakeFirstOrThrow()).people;
  }
}
