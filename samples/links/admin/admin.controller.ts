import { Controller, Delete, Maintenance, Middleware, Put, Reply } from "@stagecraft/framework";
import { SignedIn } from "../accounts/signed-in.js";

/** Switches maintenance on and off. The paths below `/admin` stay open during maintenance. */
@Controller("/admin")
@Middleware(SignedIn)
export class AdminController {
  constructor(private readonly maintenance: Maintenance) {}

  @Put("/maintenance", "admin.close")
  close() {
    this.maintenance.engage();
    return Reply.noContent();
  }

  @Delete("/maintenance", "admin.open")
  open() {
    this.maintenance.disengage();
    return Reply.noContent();
  }
}
