import { event, Injectable, On } from "@stagecraft/framework";
import { Mailer } from "@stagecraft/framework/mail";
import { Welcome } from "./welcome.js";

export const personJoined = event<{ readonly name: string; readonly email: string | undefined }>("person.joined");

/** Sends the welcome after the answer: a slow mail server does not delay a sign-up, and a failure does not undo it. */
@Injectable()
export class Greeter {
  constructor(private readonly mailer: Mailer) {}

  @On(personJoined, { afterAnswer: true })
  async greet({ name, email }: { readonly name: string; readonly email: string | undefined }) {
    if (email !== undefined) await this.mailer.send(new Welcome({ name }).to({ name, address: email }));
  }
}
