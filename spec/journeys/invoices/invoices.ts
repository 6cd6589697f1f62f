/** Invoices for people and for programs, and the members of the company. */
import { type ContextOf, Controller, inject, NotFoundError, Reply } from "@stagecraft/framework";
import { html } from "@stagecraft/framework/mail";
import { api, invoices, members } from "./endpoints.js";
import { AppDatabase, AppUsers, Members } from "./users.js";
import { respond, createField, createForm, showPage } from "./pages.js";

export class Invoices {
  private readonly db = inject(AppDatabase);

  list() {
    return this.db.query.selectFrom("invoices").selectAll().orderBy("id").execute();
  }

  add(userId: string, invoice: { readonly customer: string; readonly cents: number }) {
    const values = { ...invoice, paid: 0, created_by: userId };
    return this.db.query.insertInto("invoices").values(values).returningAll().executeTakeFirstOrThrow();
  }

  async pay(id: number) {
    const { numUpdatedRows } = await this.db.query
      .updateTable("invoices")
      .set({ paid: 1 })
      .where("id", "=", id)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new NotFoundError();
  }

  async remove(id: number) {
    const { numDeletedRows } = await this.db.query.deleteFrom("invoices").where("id", "=", id).executeTakeFirst();
    if (numDeletedRows === 0n) throw new NotFoundError();
  }
}

@Controller(invoices)
export class InvoicesController {
  private readonly store = inject(Invoices);

  @invoices.index async index(ctx: ContextOf<typeof invoices.index>) {
    const all = await this.store.list();
    const rows = all.map(
      ({ id, customer, cents, paid }) =>
        html`<li>
          ${customer}: ${(cents / 100).toFixed(2)} ${paid === 1 ? "paid" : ""}
          ${createForm(ctx, invoices.pay.url(id), "Paid")}${createForm(ctx, invoices.remove.url(id), "Remove")}
        </li>`,
    );
    const content = html`<ul>
        ${rows}
      </ul>
      ${createForm(ctx, invoices.create.url(), "Add", [createField("customer"), createField("cents", "number")])}`;
    return showPage(ctx, { invoices: all }, "Invoices", content);
  }

  @invoices.create async create(ctx: ContextOf<typeof invoices.create>) {
    const invoice = await this.store.add(ctx.identity.userId, ctx.input.body);
    return respond(ctx, invoices.index.url(), invoice, "The invoice is added.");
  }

  @invoices.pay async pay(ctx: ContextOf<typeof invoices.pay>) {
    await this.store.pay(ctx.params.id);
    return respond(ctx, invoices.index.url(), { kind: "paid" });
  }

  @invoices.remove async remove(ctx: ContextOf<typeof invoices.remove>) {
    await this.store.remove(ctx.params.id);
    return respond(ctx, invoices.index.url(), { kind: "removed" }, "The invoice is removed.");
  }
}

@Controller(members)
export class MembersController {
  private readonly users = inject(AppUsers);
  private readonly members = inject(Members);

  @members.index async index(ctx: ContextOf<typeof members.index>) {
    const all = await this.users.list();
    const rows = all.map(
      ({ id, name, role }) => html`<li>${name} ${role} ${createForm(ctx, members.suspend.url(id), "Suspend")}</li>`,
    );
    return showPage(
      ctx,
      { members: all },
      "Members",
      html`<ul>
        ${rows}
      </ul>`,
    );
  }

  @members.setRole async setRole(ctx: ContextOf<typeof members.setRole>) {
    await this.members.setRole(ctx.params.id, ctx.input.body.role);
    return respond(ctx, members.index.url(), { kind: "changed" });
  }

  @members.suspend async suspend(ctx: ContextOf<typeof members.suspend>) {
    await this.members.suspend(ctx.params.id);
    return respond(ctx, members.index.url(), { kind: "suspended" });
  }
}

@Controller(api)
export class ApiController {
  private readonly store = inject(Invoices);

  @api.list list() {
    return this.store.list();
  }

  @api.create async create({ identity, input }: ContextOf<typeof api.create>) {
    return Reply.json(await this.store.add(identity.userId, input.body), 201);
  }
}
