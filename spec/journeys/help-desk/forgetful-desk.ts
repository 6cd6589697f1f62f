/** The help desk as a beginner starts it: no log is installed, and no module lists one of the listeners. */
import { Injectable, On, Route, Routes } from "@stagecraft/framework";
import { helpDesk, ticketOpened } from "./help-desk.js";

@Injectable()
export class Forgotten {
  @On(ticketOpened)
  count() {
    return 1;
  }
}

const broken = Route.get("/broken", () => {
  throw new Error("the disk is full");
});

await helpDesk()
  .routes(new Routes([broken]))
  .build()
  .run();
