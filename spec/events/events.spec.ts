/** Events of an application: the listeners that run, their time and request, and the effect of a failure. */
import {
  Application,
  type Context,
  event,
  Events,
  Injectable,
  Module,
  On,
  provide,
  Route,
  Routes,
  StartupError,
  token,
} from "@stagecraft/framework";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { inCommitScope, type CommitScope } from "../../lib/lifecycle/commit-scope.js";
import { Gate } from "../support/gate.js";
import { rejectionOf } from "../support/rejection-of.js";

const created = event("link.created", z.object({ id: z.string().max(5) }));
const warmed = event("cache.warmed");

type Step = string;

@Injectable()
class Journal {
  readonly steps: Step[] = [];
  readonly answered = new Gate();
  readonly gate = new Gate();
}

@Injectable()
class Announcer {
  constructor(private readonly journal: Journal) {}

  @On(created)
  async announce({ id }: { id: string }): Promise<void> {
    await Promise.resolve();
    this.journal.steps.push(`announced ${id}`);
  }

  @On(created)
  fail({ id }: { id: string }): void {
    throw new Error(`no ${id}`);
  }

  @On(warmed)
  @On(created)
  count(): void {
    this.journal.steps.push("counted");
  }
}

@Injectable()
class Indexer {
  constructor(private readonly journal: Journal) {}

  @On(created, { afterResponse: true })
  async index({ id }: { id: string }): Promise<void> {
    this.journal.answered.open();
    await this.journal.gate.passed;
    this.journal.steps.push(`indexed ${id}`);
  }

  @On(created, { afterResponse: true })
  fail(): void {
    throw new Error("no index");
  }
}

@Injectable()
class Auditor {
  constructor(private readonly journal: Journal) {}

  @On(created, { inTransaction: true })
  audit({ id }: { id: string }): void {
    if (id === "bad") throw new Error("refused");
    this.journal.steps.push("audited");
  }
}

function appWith(
  providers: readonly (abstract new (...args: never[]) => object)[],
  handler: (events: Events, ctx: Context) => unknown,
) {
  @Module({ providers: [Journal, ...(providers as never[])] })
  class Shop {}

  let emitter: Events | undefined;
  const keep = (events: Events): Events => (emitter = events);
  class Emitter {}
  return testApp(
    Application.create(Shop)
      .provide(provide(Emitter).useFactory((resolve) => keep(resolve(Events))))
      .routes(
        new Routes([
          Route.get("/", (ctx) => {
            if (emitter === undefined) throw new Error("no events");
            return handler(emitter, ctx);
          }),
        ]),
      )
      .requestId()
      .accessLog(),
  );
}

const steps = (app: TestApp): readonly Step[] => app.resolve(Journal).steps;

/** A transaction that collects its work for after the commit, as a database does. */
class Transaction implements CommitScope {
  readonly work: (() => unknown)[] = [];

  afterCommit(work: () => unknown): void {
    this.work.push(work);
  }

  async commit(): Promise<void> {
    for (const each of this.work) await each();
  }
}

describe("an emitted event", () => {
  it("reaches each listener in order, and emit waits for them", async () => {
    await using app = await appWith([Announcer], async (events) => {
      await events.emit(created, { id: "7" });
      return "";
    });

    await app.get("/");

    expect(steps(app)).to.deep.equal(["announced 7", "counted"]);
  });

  it("without a payload reaches its listeners, and without a listener is not an error", async () => {
    await using app = await appWith([Announcer], async (events) => {
      await events.emit(warmed);
      await events.emit(event("cache.cleared"));
      return "";
    });

    expect((await app.get("/")).status).to.equal(200);
    expect(steps(app)).to.deep.equal(["counted"]);
  });

  it("reaches the listeners of an application in which no class emits", async () => {
    @Module({ providers: [Journal, Auditor] })
    class Audits {}
    await using app = await testApp(Application.create(Audits));

    await app.resolve(Events).emit(created, { id: "7" });

    expect(steps(app)).to.deep.equal(["audited"]);
  });

  it("survives a listener that fails, with one ERROR event of the request", async () => {
    await using app = await appWith([Announcer], async (events) => {
      await events.emit(created, { id: "7" });
      return "";
    });

    const answer = await app.get("/");

    const lines = app.logs.lines().filter((line) => line.includes("event listener failed"));
    expect(answer.status).to.equal(200);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0])
      .to.include('"event":"link.created","listener":"Announcer.fail"')
      .and.to.include('"level":"ERROR"')
      .and.to.include(answer.headers.get("x-request-id"));
  });

  it("is refused when its payload does not fit the schema, and no listener runs", async () => {
    await using app = await appWith([Announcer], (events) => events.emit(created, { id: "too long" }));

    expect((await app.get("/")).status).to.equal(422);
    expect(steps(app)).to.deep.equal([]);
  });

  it("makes a span for each listener", async () => {
    await using app = await appWith([Announcer], (events) => events.emit(created, { id: "7" }));

    await app.get("/");

    const spans = app.captured.spans.texts().filter((text) => text.includes("framework.event.listener"));
    expect(spans.some((text) => text.includes("Announcer.announce"))).to.equal(true);
    expect(spans.some((text) => text.includes("Announcer.count"))).to.equal(true);
  });
});

describe("a listener after the response", () => {
  it("runs when the client has the response, and logs with the ids of the request", async () => {
    await using app = await appWith([Indexer], (events) => events.emit(created, { id: "7" }));
    const journal = app.resolve(Journal);

    const answer = await app.get("/");
    await journal.answered.passed;
    journal.gate.open();
    await app.resolve(Events).waitUntilIdle(1000);

    const line = app.logs.lines().find((each) => each.includes("event listener failed"));
    expect(journal.steps).to.deep.equal(["indexed 7"]);
    expect(line).to.include("Indexer.fail").and.to.include(answer.headers.get("x-request-id"));
  });

  it("is awaited by the drain", async () => {
    const app = await appWith([Indexer], (events) => events.emit(created, { id: "7" }));
    await app.get("/");
    await app.resolve(Journal).answered.passed;

    const journal = app.resolve(Journal);
    const stopped = app.stop();
    setImmediate(() => journal.gate.open());
    await stopped;

    expect(journal.steps).to.deep.equal(["indexed 7"]);
  });

  it("starts at once outside a request", async () => {
    await using app = await appWith([Indexer], () => "");
    const events = app.resolve(Events);

    await events.emit(created, { id: "7" });
    await app.resolve(Journal).answered.passed;
    app.resolve(Journal).gate.open();
    await events.waitUntilIdle(1000);

    expect(steps(app)).to.deep.equal(["indexed 7"]);
  });
});

describe("an event inside a transaction", () => {
  it("reaches its listeners after the commit, and those of the transaction at once", async () => {
    const transaction = new Transaction();
    await using app = await appWith([Announcer, Auditor], async (events) => {
      await inCommitScope(transaction, () => events.emit(created, { id: "7" }));
      return "";
    });

    await app.get("/");
    const before = [...steps(app)];
    await transaction.commit();

    expect(before).to.deep.equal(["audited"]);
    expect(steps(app)).to.deep.equal(["audited", "announced 7", "counted"]);
  });

  it("rejects with the failure of a listener of the transaction", async () => {
    await using app = await appWith([Auditor], () => "");

    const error = await rejectionOf(app.resolve(Events).emit(created, { id: "bad" }));

    expect(error).to.have.property("message", "refused");
  });
});

describe("the listeners of an application", () => {
  it("stand in its graph, module by module", async () => {
    await using app = await appWith([Announcer, Auditor], () => "");

    expect(app.application.graph().modules[0]?.listeners).to.deep.equal([
      "Announcer.announce on link.created",
      "Announcer.fail on link.created",
      "Announcer.count on link.created",
      "Announcer.count on cache.warmed",
      "Auditor.audit on link.created",
    ]);
  });

  it("stand in its graph event by event, with the listed events that have no listener", async () => {
    const cleared = event("cache.cleared");
    @Module({ events: [cleared, created] })
    class Cleaning {}
    @Module({ imports: [Cleaning], providers: [Journal, Announcer, Auditor], events: [cleared] })
    class Shop {}

    expect(Application.create(Shop).build().graph().events).to.deep.equal([
      { name: "cache.cleared", modules: ["Shop", "Cleaning"], listeners: [] },
      { name: "cache.warmed", modules: [], listeners: ["Announcer.count"] },
      {
        name: "link.created",
        modules: ["Cleaning"],
        listeners: ["Announcer.announce", "Announcer.fail", "Announcer.count", "Auditor.audit"],
      },
    ]);
  });

  it("are looked for in the class of a provided value, and not among its members, which may be many", () => {
    let lists = 0;
    const value = new Proxy({}, { ownKeys: () => [String((lists += 1))] });

    Application.create()
      .provide(provide(token<object>("value")).useValue(value))
      .build();

    expect(lists).to.equal(0);
  });

  it("belong to one event of each name", async () => {
    const other = event("link.created");
    class Twin {
      @On(other) listen(): void {}
    }

    expect(await rejectionOf(appWith([Announcer, Injectable()(Twin) ?? Twin], () => ""))).to.have.property(
      "code",
      "E_EVENT_NAME",
    );
  });
});

describe("the events of a module", () => {
  it("have one name each in the application", () => {
    @Module({ providers: [Journal, Announcer], events: [event("link.created")] })
    class Shop {}

    expect(() => Application.create(Shop).build())
      .to.throw()
      .with.property("code", "E_EVENT_NAME");
  });

  it("are refused with their place where they are no events", () => {
    class Created {}
    @Module({ events: [created, Created, undefined] as never })
    class Shop {}

    expect(() => Application.create(Shop).build())
      .to.throw(StartupError)
      .with.property("diagnostics")
      .that.deep.equals([
        {
          code: "E_NOT_AN_EVENT",
          what: "Created is not an event",
          where: "event 2 of Shop",
          fix: 'list values that event("…") has returned',
        },
        {
          code: "E_NOT_AN_EVENT",
          what: "undefined is not an event: the file that defines it is not loaded yet, because two files import each other",
          where: "event 3 of Shop",
          fix: "remove one of the two imports",
        },
      ]);
  });
});

describe("event and @On", () => {
  const wrong: readonly (readonly [string, () => unknown, string])[] = [
    ["an empty name", () => event(""), "E_EVENT_NAME"],
    ["a name with a blank", () => event("link created"), "E_EVENT_NAME"],
    ["a name of 101 characters", () => event("x".repeat(101)), "E_EVENT_NAME"],
    ["no event", () => On(undefined as never), "E_EVENT_LISTENER"],
    ["both times", () => On(warmed, { afterResponse: true, inTransaction: true }), "E_EVENT_LISTENER"],
    ["a queued listener after the answer", () => On(warmed, { afterResponse: true, queued: true }), "E_EVENT_LISTENER"],
    ["a static method", () => On(warmed)(class Shop {}, "listen", {} as never), "E_DECORATOR_KIND"],
    ["an unknown option", () => On(warmed, { later: true } as never), "E_OPTION"],
  ];
  for (const [what, make, code] of wrong) {
    it(`refuse ${what}`, () => {
      expect(make).to.throw().with.property("code", code);
    });
  }
});
