/** Compile-only: jobs, dispatches and handlers that compile, and those that must not. */
import {
  Every,
  Handles,
  type Jobs,
  job,
  type JobContext,
  schedule,
  type ScheduledTick,
} from "@stagecraft/framework/jobs";
import { z } from "zod";

const welcome = job("mail.welcome", z.object({ to: z.string(), at: z.coerce.date() }));
const plain = job<{ id: number }>("plain");
const tick = job("tick");
const nightly = schedule("nightly", "0 3 * * *");

export async function dispatches(jobs: Jobs): Promise<void> {
  await jobs.dispatch(welcome, { to: "ada", at: "2026-01-01" }, { delay: 1000, key: "ada", unique: "until-done" });
  await jobs.dispatch(tick);
  await jobs.dispatch(tick, undefined, { queue: "slow" });
  await jobs.dispatchAll(plain, [{ id: 1 }, { id: 2 }], { priority: 5 });
  // @ts-expect-error the payload lacks a field
  await jobs.dispatch(welcome, { at: "2026-01-01" });
  // @ts-expect-error the job has a payload
  await jobs.dispatch(plain);
  // @ts-expect-error the type of a field is wrong
  await jobs.dispatch(plain, { id: "1" });
  // @ts-expect-error there is no such rule
  await jobs.dispatch(tick, undefined, { unique: "always" });
}

export class Handlers {
  @Handles(welcome)
  send({ to, at }: { to: string; at: Date }, { signal }: JobContext): unknown {
    return [to, at, signal];
  }

  @Handles(plain)
  onlyPayload({ id }: { id: number }): number {
    return id;
  }

  @Handles(tick)
  nothing(): void {}

  @Every(nightly)
  sweep({ due }: ScheduledTick): string {
    return due;
  }

  // @ts-expect-error the handler asks for the input of the schema, and gets its output
  @Handles(welcome)
  input(_payload: { to: string; at: string }): void {}

  // @ts-expect-error the handler asks for another payload
  @Handles(plain)
  other(_payload: { name: string }): void {}

  // @ts-expect-error a job is not a schedule
  @Every(tick)
  everyJob(): void {}
}
