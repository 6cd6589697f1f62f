/** Compile-only: events and listeners that compile, and those that must not. */
import { z } from "zod";
import { Module } from "../../lib/di/module.js";
import { event } from "../../lib/events/event.js";
import type { Events } from "../../lib/events/events.js";
import { On } from "../../lib/events/on.js";

const created = event("link.created", z.object({ id: z.string() }));
const moved = event<{ readonly from: string }>("link.moved");
const warmed = event("cache.warmed");

export class Listeners {
  @On(created) all({ id }: { readonly id: string }) {
    return id;
  }
  @On(created) none() {}
  @On(moved) async moved(_payload: { readonly from: string }) {}
  @On(created)
  @On(moved)
  any(_payload: object) {}

  // @ts-expect-error the payload has no such property
  @On(created) wrong(_payload: { readonly name: string }) {}
  // @ts-expect-error a listener has one argument
  @On(moved) two(_payload: { readonly from: string }, _more: string) {}
}

export async function emits(events: Events): Promise<void> {
  await events.emit(created, { id: "7" });
  await events.emit(warmed);
  // @ts-expect-error the payload has another shape
  await events.emit(created, { id: 7 });
  // @ts-expect-error the payload is missing
  await events.emit(moved);
  // @ts-expect-error the event has no payload
  await events.emit(warmed, { id: "7" });
}

@Module({ events: [created, moved, warmed] })
export class Emitting {}

// @ts-expect-error a class is not an event, though it has a name
@Module({ events: [Listeners] })
export class EmittingAClass {}
