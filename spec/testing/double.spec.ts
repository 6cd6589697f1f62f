import { AssertionError } from "node:assert";
import { inspect } from "node:util";
import { expect } from "chai";
import { Controller, Get, Inject, Injectable, Module, provide, Subsystem, token } from "../../lib/entries/main.js";
import { double } from "../../lib/testing/double.js";
import { testApp } from "../../lib/testing/test-app.js";

interface Mailer {
  send(to: string): string;
}
const Mailer = token<Mailer>("mailer");

const journal: string[] = [];

@Injectable()
class Links extends Subsystem {
  readonly kind = "database";
  private readonly rows = new Map<string, string>();

  start(): void {
    journal.push("start");
  }

  stop(): void {
    journal.push("stop");
  }

  find(id: string): string | undefined {
    return this.rows.get(id);
  }

  label(id: string): string {
    return `label ${String(this.find(id))}`;
  }
}

@Controller("/links")
class LinksController {
  constructor(
    private readonly links: Links,
    @Inject(Mailer) private readonly mailer: Mailer,
  ) {}

  @Get("/{id}")
  show({ params }: { readonly params: { readonly id: string } }) {
    return this.links.find(params.id);
  }

  @Get("/{id}/label")
  label({ params }: { readonly params: { readonly id: string } }) {
    return this.links.label(params.id);
  }

  @Get("/{id}/sent")
  sent({ params }: { readonly params: { readonly id: string } }) {
    return this.mailer.send(params.id);
  }
}

@Module({ controllers: [LinksController], providers: [Links, provide(Mailer).useValue({ send: () => "sent" })] })
class LinksModule {}

describe("double", () => {
  beforeEach(() => void journal.splice(0));

  it("replaces a provider with the members that are given", async () => {
    await using app = await testApp(
      LinksModule,
      double(Links, { find: (id) => `link ${id}` }),
      double(Mailer, { send: (to) => `to ${to}` }),
    );

    const found = await (await app.get("/links/7")).text();
    const sent = await (await app.get("/links/7/sent")).text();

    expect([found, sent]).to.deep.equal(["link 7", "to 7"]);
  });

  it("throws where another member is called, and names the double and the member", async () => {
    await using app = await testApp(LinksModule, double(Links, { find: () => "link" }), double(Mailer, {}));

    const statuses = [(await app.get("/links/7/label")).status, (await app.get("/links/7/sent")).status];

    expect(statuses).to.deep.equal([500, 500]);
    expect(app.logs.transcript()).to.include("the double of Links has no member label: add it");
    expect(app.logs.transcript()).to.include("the double of mailer has no member send: add it");
  });

  it("starts neither the subsystem that it replaces nor the double", async () => {
    await using app = await testApp(LinksModule, double(Links, { find: () => "link" }));
    await app.get("/links/7");
    await app.stop();

    expect(journal).to.deep.equal([]);
  });

  it("gives the double itself to a unit test", () => {
    const { value } = double(Links, { find: (id) => id, label(id) { return `own ${String(this.find(id))}`; } }); // prettier-ignore

    expect(value.label("7")).to.equal("own 7");
    expect(() => value.start()).to.throw(AssertionError, "the double of Links has no member start");
  });

  it("can be awaited, printed and written as JSON", async () => {
    const { value } = double(Links, { kind: "database" });

    const awaited = await Promise.resolve(value);

    expect(awaited).to.equal(value);
    expect(JSON.stringify(value)).to.equal('{"kind":"database"}');
    // Newer Nodes name the proxy around it.
    expect(inspect(value)).to.include("{ kind: 'database' }");
  });
});
