/** The one port of development in front of an application whose subsystems still start. */
import { Application, Module, provide, Route, Routes, Subsystem } from "@stagecraft/framework";
import { expect } from "chai";
import { OnePort } from "../../samples/dev/one-port.js";
import { freePort } from "../support/free-port.js";
import { Gate } from "../support/gate.js";

class Database extends Subsystem {
  readonly kind = "database";
  readonly asked = new Gate();
  readonly isUp = new Gate();

  async start(): Promise<void> {
    this.asked.open();
    await this.isUp.passed;
  }

  stop(): void {}
}

describe("the one port of development", () => {
  const database = new Database();
  let running: Promise<void>;
  let onePort: OnePort;
  let url: string;

  before(async () => {
    @Module({ providers: [provide(Database).useValue(database)] })
    class Shop {}

    const port = await freePort();
    const routes = new Routes([
      Route.get("/", () => "open"),
      Route.get("/closed", (ctx) => {
        ctx.status = 503;
        return "closed";
      }),
    ]);
    running = Application.create(Shop).routes(routes).port(port).lifecycle({ drainDelayMs: 0 }).build().run();
    await database.asked.passed;
    onePort = new OnePort({ application: port, vite: undefined });
    url = `http://127.0.0.1:${await onePort.listen(0)}`;
  });
  after(async () => {
    onePort.close();
    process.emit("SIGTERM", "SIGTERM");
    await running;
  });

  it("has a page wait until the application has started", async () => {
    const page = fetch(url).then((response) => response.text());
    const refused = await fetch(url, { method: "POST" });
    database.isUp.open();

    expect(refused.status).to.equal(503);
    expect(await page).to.equal("open");
  });

  it("gives a 503 of the application itself to the browser", async () => {
    const closed = await fetch(`${url}/closed`);

    expect([closed.status, await closed.text()]).to.deep.equal([503, "closed"]);
  });
});
