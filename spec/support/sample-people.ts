/** People of `samples/links`, for specs with access to the process: an account as its sign-up leaves it, and a sign-up by the mail. */
import { Identities, Passwords } from "@stagecraft/framework/auth";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import type { TestApp, TestClient } from "@stagecraft/framework/testing";
import { until } from "./until.js";

export const PASSWORD = "correct horse";

/** Adds an account that has confirmed its address, and returns its id. */
export async function addPerson(app: TestApp, email: string): Promise<string> {
  const userId = email.replace(/@.*/, "");
  const password = await app.resolve(Passwords).hash(PASSWORD);
  const times = { verifiedAt: Date.now(), createdAt: Date.now() };
  await app.resolve(Identities).insert({ userId, email, password, stamp: "0".repeat(32), ...times });
  return userId;
}

/** The path of the link in the last mail to an address. A job sends it after the response. */
export async function findMailPath(app: TestApp, to: string, subject: string): Promise<string> {
  const mailer = app.resolve(Mailer);
  if (!(mailer instanceof MemoryMailer)) throw new Error("the mails are not in memory");
  const find = () => mailer.sent.findLast((mail) => mail.recipients.includes(to) && mail.subject === subject);
  await until(() => find() !== undefined);
  const { pathname, search } = new URL(/https?:\S+/.exec(find()?.text ?? "")?.[0] ?? "");
  return pathname + search;
}

/** Signs up as a person does: by the form, and by the link of the mail. */
export async function signUp(app: TestApp, client: TestClient, email: string): Promise<Response> {
  await client.post("/account/sign-up", { form: { email, password: PASSWORD } });
  return client.post(await findMailPath(app, email, "Confirm your address"), { form: {} });
}
