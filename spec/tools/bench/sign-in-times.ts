/**
 * The time of a refused sign-in, for a wrong password and for an unknown address, by turns on one server. The hash is a cheap one, so that
 * a difference in the work around it would be seen. The two medians differ by less than the middle half of the tries spreads.
 */

import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { addPerson, signIn, startAccounts } from "../../auth/account-application.js";
import { markdownTable, median } from "./table.js";

export const SIGN_IN_TIMES = {
  name: "sign-in-times",
  what: "2,000 sign-ins with a wrong password, and 2,000 with an unknown address",
  run: runSignInTimes,
} as const;

const TRIES = 2000;
const WARM_UP = 200;
const COLUMNS = ["sign-in", "median, ms", "first quartile", "third quartile"];

async function runSignInTimes(): Promise<string> {
  const clock = new FakeClock();
  await using app = await startAccounts({ clock });
  const email = await addPerson(app, "ada");
  const tries = [
    { email, times: [] as number[] },
    { email: "nobody@shop.example", times: [] as number[] },
  ] as const;
  for (let attempt = -WARM_UP; attempt < TRIES; attempt += 1) {
    // No attempt is limited: the time of a 429 would be measured.
    clock.advance(900_000);
    for (const each of attempt % 2 === 0 ? tries : tries.toReversed()) {
      const elapsed = await time(app, each.email);
      if (attempt >= 0) each.times.push(elapsed);
    }
  }
  const [wrong, unknown] = tries;
  return markdownTable(COLUMNS, [toRow("wrong password", wrong.times), toRow("unknown address", unknown.times)]);
}

async function time(app: TestApp, email: string): Promise<number> {
  const start = performance.now();
  const { status } = await signIn(app, email, "a wrong password");
  if (status !== 401) throw new Error(`a refused sign-in has the status ${status}`);
  return performance.now() - start;
}

function toRow(name: string, times: readonly number[]): string[] {
  const middle = median(times);
  const quartiles = [times.filter((value) => value < middle), times.filter((value) => value > middle)].map(median);
  return [name, ...[middle, ...quartiles].map((value) => value.toFixed(3))];
}
