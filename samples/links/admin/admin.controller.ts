import { type ContextOf, Controller, ForbiddenError, Maintenance, Reply } from "@stagecraft/framework";
import { People } from "../accounts/people.js";
import { admin } from "./admin.routes.js";

/** Switches maintenance on and off, for programs. A token says what a program may do, and the role what its person may do. */
@Controller(admin)
export class AdminController {
  constructor(
    private readonly maintenance: Maintenance,
    private readonly people: People,
  ) {}

  @admin.close
  async close(ctx: ContextOf<typeof admin.close>) {
    await this.requireAdmin(ctx);
    this.maintenance.engage();
    return Reply.noContent();
  }

  @admin.open
  async open(ctx: ContextOf<typeof admin.open>) {
    await this.requireAdmin(ctx);
    this.maintenance.disengage();
    return Reply.noContent();
  }

  private async requireAdmin({ identity }: ContextOf<typeof admin.open>) {
    if (!(await this.people.getRoles(identity.userId)).includes("admin"))
      throw new ForbiddenError("only administrators may do this");
  }
}
