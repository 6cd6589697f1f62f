/** Devices with the cookie of remember-me, for specs. */
import type { TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { account, PASSWORD } from "./account-application.js";

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
const NAME = "framework-remember";

/** The last value of the cookie that a response sets; `undefined` where it sets none, `""` where it deletes it. */
export function findToken(response: Response, name = NAME): string | undefined {
  const line = response.headers.getSetCookie().findLast((each) => each.startsWith(`${name}=`));
  return line?.slice(name.length + 1).split(";")[0];
}

/** Signs in with remember-me. Returns the token and the cookie of the session. */
export async function remember(app: TestApp, userId: string, headers: Readonly<Record<string, string>> = {}) {
  const json = { email: `${userId}@shop.example`, password: PASSWORD, remember: true };
  const response = await app.post(account.signIn.url(), { json, headers });
  expect(response.status).to.equal(200);
  return { token: findToken(response) ?? "", session: findToken(response, "framework-id") ?? "" };
}

export interface Device {
  readonly token?: string | undefined;
  readonly session?: string | undefined;
}

export function toHeaders({ token, session }: Device): { readonly cookie: string } {
  const cookies = [token !== undefined && `${NAME}=${token}`, session !== undefined && `framework-id=${session}`];
  return { cookie: cookies.filter((each) => each !== false).join("; ") };
}

/** Asks who is signed in, with these cookies alone. */
export const visit = (app: TestApp, device: Device) => app.get(account.show.url(), { headers: toHeaders(device) });
