/** Compile-only: what the contract of an endpoint says of its handler, and what does not compile. */
import { z } from "zod";
import { content } from "../../lib/endpoints/content.js";
import type { ContextOf } from "../../lib/endpoints/contract.js";
import { Get, Post } from "../../lib/endpoints/endpoint.js";
import { routes } from "../../lib/endpoints/endpoint-table.js";
import { guard } from "../../lib/endpoints/guard.js";
import type { Context } from "../../lib/http/request/context.js";

const signedIn = guard<{ user: { id: string } }>("signed-in");
const role = guard<{ roles: string[] }, [role: string]>("role");
const Link = z.object({ id: z.uuid(), url: z.string(), tags: z.array(z.string()) });
const New = z.object({ url: z.url(), tags: z.array(z.string()).default([]) });
const Taken = z.object({ code: z.string() });
export const t = routes(
  "t",
  "/teams/{team}/t",
  {
    add: Post("/{id}/x", { params: { id: z.coerce.number() }, body: New, responses: { 201: Link, 409: Taken } }),
    show: Get("/{id}", { responses: { 200: Link }, guards: [signedIn, role("admin")] }),
    plain: Get("/plain", "name"),
    form: Post("/form", { body: content.form(New), responses: { 303: content.redirect() } }),
    gone: Post("/gone", { responses: { 204: content.none() } }),
  },
  { guards: [guard<{ tenant: string }>("tenant")] },
);

export class Ok {
  @t.add a(ctx: ContextOf<typeof t.add>) {
    const n: number = ctx.params.id;
    const s: string = ctx.params.team;
    const u: string = ctx.input.body.url;
    return { id: `${n}${s}`, url: u, tags: [] };
  }
  @t.add b(ctx: Context) {
    return { id: ctx.path, url: "", tags: [] };
  }
  @t.show async d({ user, roles, tenant }: ContextOf<typeof t.show>) {
    return Promise.resolve({ id: user.id + tenant, url: "", tags: roles });
  }
  @t.plain f({ params, tenant }: ContextOf<typeof t.plain>) {
    return params.team + tenant;
  }
  @t.gone g() {}
}
