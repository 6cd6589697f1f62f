import { Controller, Maintenance, Reply } from "@stagecraft/framework";
import { admin } from "./admin.routes.js";

/** Switches maintenance on and off, for programs. A token says what a program may do, and the role what its person may do. */
@Controller(admin)
export class AdminController {
  constructor(private readonly maintenance: Maintenance) {}

  @admin.close
  close() {
    this.maintenance.engage();
    return Reply.noContent();
  }

  @admin.open
  open() {
    this.maintenance.disengage();
    return Reply.noContent();
  }
}
