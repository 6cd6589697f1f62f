/** Compile-only: guards and policies that fit, and those that do not compile. `spec/contracts/guard-types.spec.ts` reads the messages. */
import { Guards } from "../../lib/contracts/guards.js";
import { Policy } from "../../lib/contracts/policy.js";
import type { ContextOf } from "../../lib/endpoints/contract.js";
import { Get } from "../../lib/endpoints/endpoint.js";
import { routes } from "../../lib/endpoints/endpoint-table.js";
import { guard } from "../../lib/endpoints/guard.js";
import { resource } from "../../lib/endpoints/resource.js";
import type { Context } from "../../lib/http/request/context.js";
import { Route } from "../../lib/routing/route.js";

interface User {
  readonly id: string;
}

interface Link {
  readonly owner: string;
}

const signedIn = guard<{ user: User }>("signed-in");
const role = guard<{ roles: readonly string[] }, [role: string]>("role");
const limit = guard<object, [size?: number]>("limit");
const plain = guard("plain");
const owner = guard<object, [], { user: User }>("owner", { after: [signedIn] });
// @ts-expect-error -- a guard that needs values names the guards that add them
guard<object, [], { user: User }>("alone");
// @ts-expect-error -- another guard adds no user
guard<object, [], { user: User }>("other", { after: [guard<{ user: string }>("text")] });
const admin = guard<{ user: User & { readonly isAdmin: true } }>("admin");
guard<object, [], { user: User }>("either", { after: [[signedIn, admin]] });
// @ts-expect-error -- each guard of the list adds a user
guard<object, [], { user: User }>("neither", { after: [[signedIn, guard<{ user: string }>("text")]] });
// @ts-expect-error -- no guard is one of none
guard<object, [], { user: User }>("none", { after: [[]] });

const parse = JSON.parse;

const links = routes("links", "/links", {
  open: Get("/open"),
  show: Get("/{id}", { guards: [signedIn, role("admin"), limit, limit(7)] }),
});
const photos = resource("photos", "/photos", { only: ["show"], guards: [signedIn] });

export class Fits {
  @Guards(signedIn) plainly(ctx: Context) {
    return { user: { id: ctx.path } };
  }
  @Guards(signedIn) async later() {
    return Promise.resolve({ user: { id: "", name: "" } });
  }
  @Guards(signedIn) never(): never {
    throw new Error();
  }
  @Guards(role) hasRole(_ctx: Context, wanted: string) {
    return { roles: [wanted] };
  }
  @Guards(role) withoutArguments(_ctx: Context) {
    return { roles: [] };
  }
  @Guards(limit) sized(_ctx: Context, _size?: number) {}
  @Guards(plain) async nothing() {}
  @Guards(owner) isOwner({ user }: Context & { user: User }) {
    if (user.id === "") throw new Error();
  }

  @links.show show({ user, roles, params }: ContextOf<typeof links.show>): string {
    return user.id + roles.join() + params.id;
  }
  @photos.show photo({ user, params }: ContextOf<typeof photos.show>): string {
    return user.id + params.id;
  }
}

export const handled = Route.of(links.show, ({ user }) => user.id);

export class Misfits {
  // @ts-expect-error the values are missing
  @Guards(signedIn) none() {
    return {};
  }
  // @ts-expect-error the values may be missing
  @Guards(signedIn) maybe(ctx: Context) {
    return ctx.path === "" ? { user: { id: "" } } : undefined;
  }
  // @ts-expect-error false refuses nothing
  @Guards(plain) refuses() {
    return false;
  }
  // @ts-expect-error any may be undefined
  @Guards(signedIn) anything(ctx: Context) {
    const row = parse(ctx.path);
    return row && { user: row };
  }
  // @ts-expect-error the same for a promise
  @Guards(signedIn) async anythingLater(ctx: Context) {
    return Promise.resolve(parse(ctx.path));
  }
  // @ts-expect-error any may be false
  @Guards(plain) anyOfPlain(ctx: Context) {
    return parse(ctx.path);
  }
  // @ts-expect-error the guard has no arguments
  @Guards(signedIn) more(_ctx: Context, _role: string) {
    return { user: { id: "" } };
  }
  // @ts-expect-error the argument is a text
  @Guards(role) other(_ctx: Context, _role: number) {
    return { roles: [] };
  }
  // @ts-expect-error a guard knows no captures
  @Guards(signedIn) captures({ params }: Context<"id">) {
    return { user: { id: params.id } };
  }
  // @ts-expect-error the entry has no guard
  @links.open open({ user }: Context & { user: User }) {
    return user;
  }
  // @ts-expect-error the guard adds no such value
  unknown({ name }: ContextOf<typeof links.show>): unknown {
    return name;
  }
}

// @ts-expect-error Context has the name
export const taken = guard<{ params: string }>("taken");
// @ts-expect-error the guard needs its argument
export const uncalled = Get("/", { guards: [role] });
// @ts-expect-error the same for a table
export const table = routes("t", "/t", {}, { guards: [role] });
// @ts-expect-error the same for a resource
export const album = resource("p", "/p", { guards: [role] });
// @ts-expect-error the argument is a text
export const numbered = Get("/", { guards: [role(7)] });
// @ts-expect-error the entry has no guard
export const route = Route.of(links.open, ({ user }: Context & { user: User }) => user);

class LinkPolicy extends Policy<User, Link> {
  override readonly denial = 404;
  update(user: User, link: Link) {
    return link.owner === user.id;
  }
  async publish(user: { readonly id: string }, _link: object, at: Date) {
    return Promise.resolve(user.id !== "" && at.getTime() > 0);
  }
  create(_user: User) {
    return true;
  }
  score(_user: User, _link: Link) {
    return 1;
  }
  ofTeam(user: { readonly team: string }) {
    return user.team !== "";
  }
}

export async function asks(policy: LinkPolicy, user: User, link: Link): Promise<void> {
  const done: void = policy.can(user).update(link);
  const allowed: boolean = policy.allows(user).update(link) && policy.allows(user).create();
  const later: boolean = await policy.allows(user).publish(link, new Date());
  await policy.can(user).publish(link, new Date());
  // @ts-expect-error no method has the name
  policy.can(user).destroy(link);
  // @ts-expect-error the ability is about a link
  policy.can(user).update();
  // @ts-expect-error the user is none
  policy.can(link);
  // @ts-expect-error the method returns no boolean
  policy.can(user).score(link);
  // @ts-expect-error the method is for another user
  policy.can(user).ofTeam();
  // @ts-expect-error the decision is a promise
  const decided: boolean = policy.allows(user).publish(link, new Date());
  return void [done, allowed, later, decided];
}

export class Odd extends Policy<User, Link> {
  // @ts-expect-error a denial is 403 or 404
  override readonly denial = 401;
}
