/** An application runs or serves once. A second call is refused before it listens or adds a listener. */
import net from "node:net";
import { Application, Module, provide, Subsystem } from "@stagecraft/framework";
import { expect } from "chai";
import { Gate } from "../support/gate.js";
import { listening } from "../support/listening.js";
import { rejectionOf } from "../support/rejection-of.js";
import { until } from "../support/until.js";

class Database extends Subsystem {
  readonly kind = "database";
  starts = 0;
  readonly started = new Gate();

  start(): void {
    this.starts += 1;
    this.started.open();
  }

  stop(): void {}
}

function built(database: Database): Application {
  @Module({ providers: [provide(Database).useValue(database)] })
  class Root {}

  return Application.create(Root).port(0).lifecycle({ drainDelayMs: 0 }).build();
}

const bound = () => listening(net.createServer());

function listeners(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;
}

describe("an application that was used", () => {
  it("does not run again, while it runs or afterwards, and leaves no server listening", async () => {
    const database = new Database();
    const application = built(database);
    const before = listeners();
    const running = application.run();
    await database.started.passed;

    const meanwhile = await rejectionOf(application.run());
    process.emit("SIGTERM", "SIGTERM");
    await running;
    const afterwards = await rejectionOf(application.run());

    expect([meanwhile, afterwards].map((error) => Reflect.get(error, "code"))).to.deep.equal([
      "E_APPLICATION_USED",
      "E_APPLICATION_USED",
    ]);
    expect([database.starts, process.listenerCount("SIGTERM")]).to.deep.equal([1, 0]);
    await until(() => listeners() === before);
  });

  it("does not serve again, while it serves or afterwards, and does not touch the other listener", async () => {
    const application = built(new Database());
    using first = await bound();
    using second = await bound();
    const serving = await application.serve(first.server);

    const meanwhile = await rejectionOf(application.serve(second.server));
    await serving.stop();
    const afterwards = await rejectionOf(application.serve(second.server));

    expect([meanwhile, afterwards].map(({ message }) => message)).to.deep.equal(
      Array(2).fill(
        "serve() was called on an application that was used by serve(): its subsystems start and stop once; build another",
      ),
    );
    expect(second.server.listenerCount("connection")).to.equal(0);
  });

  it("does not run after it served", async () => {
    const application = built(new Database());
    using listener = await bound();
    const serving = await application.serve(listener.server);
    await serving.stop();

    expect(await rejectionOf(application.run())).to.include({ code: "E_APPLICATION_USED" });
  });
});
