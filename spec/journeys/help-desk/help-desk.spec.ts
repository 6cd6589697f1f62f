/** The help desk for its customers, its agents, its programs, and for the tests of its team. */
import { Clock, provide } from "@stagecraft/framework";
import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { Storage } from "@stagecraft/framework/storage";
import { expectProblem, FakeClock, testApp, type TestClient } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Child } from "../../support/child.js";
import { api, DeskModule, helpDesk, Reminders, Tickets, tickets } from "./help-desk.js";

const AGENT = { Authorization: "Bearer token-of-ann" };
const TWO_DAYS = 2 * 24 * 3_600_000;

async function signedIn(app: TestClient & { withCsrf(): TestClient }, name = "bob"): Promise<TestClient> {
  const client = app.withCsrf();
  expect((await client.post("/sign-in", { form: { name } })).headers.get("location")).to.equal("/tickets");
  return client;
}

/** As the Inertia client sends `<input name="files[]" multiple>`. */
function ticketForm(title: string, ...files: readonly string[]): FormData {
  const form = new FormData();
  form.append("title", title);
  files.forEach((text, at) => form.append(`files[${at}]`, new Blob([text]), `${at}.txt`));
  return form;
}

describe("a help desk built from the guide", () => {
  it("opens a ticket with all files of a list, and with none where the client sends JSON", async () => {
    await using app = await testApp(helpDesk());
    const bob = await signedIn(app);

    const withFiles = await bob.post(tickets.store.url(), { body: ticketForm("it burns", "one", "two") });
    const without = await bob.post(tickets.store.url(), { json: { title: "it is cold" } });

    expect([withFiles.status, without.status]).to.deep.equal([303, 303]);
    const [burns, cold] = await app.resolve(Tickets).search("it ", []);
    expect([burns?.files, cold?.files]).to.deep.equal([2, 0]);
    expect((await app.resolve(Storage).list("tickets/bob/")).files).to.have.length(2);
  });

  it("refuses a file that no field takes", async () => {
    await using app = await testApp(helpDesk());
    const bob = await signedIn(app);
    const form = ticketForm("it burns");
    form.append("picture", new Blob(["a picture"]), "picture.png");

    const refused = await bob.post(tickets.store.url(), { body: form, headers: { Accept: "application/json" } });

    await expectProblem(refused, { status: 422, slug: "validation" });
    expect(await app.resolve(Tickets).count()).to.equal(0);
  });

  it("searches by words and by states, and shares what a service counts", async () => {
    await using app = await testApp(helpDesk());
    const all = app.resolve(Tickets);
    await all.close(await all.open("eve", "printer burns", 0));
    await all.open("eve", "printer is slow", 0);
    await all.open("eve", "screen is dark", 0);
    const bob = await signedIn(app);

    const url = `${tickets.index.url()}?q=printer&filter[state][]=open`;
    const response = await bob.get(url, { headers: { "X-Inertia": "true" } });

    const { component, props } = await response.json<{ component: string; props: Record<string, unknown> }>();
    expect(component).to.equal("tickets/index");
    expect(props).to.have.property("openTickets", 2);
    expect(props["tickets"]).to.have.length(1).and.have.nested.property("[0].title", "printer is slow");
  });

  it("asks programs for a bearer token, people for a CSRF token, and a webhook for neither", async () => {
    await using app = await testApp(helpDesk());

    const anonymous = await app.post(api.open.url(), { json: { title: "no token" } });
    const opened = await app.post(api.open.url(), { json: { title: "with a token" }, headers: AGENT });
    const closed = await app.post(api.close.url(1), { headers: AGENT });
    const form = await app.post("/sign-in", { form: { name: "bob" } });
    const hook = await app.post("/hooks/mail", { body: "12345" });

    expect([anonymous.status, anonymous.headers.get("www-authenticate")]).to.deep.equal([401, "Bearer"]);
    expect([opened.status, opened.headers.get("location")]).to.deep.equal([201, "/tickets/1"]);
    expect([closed.status, (await app.resolve(Tickets).find("1")).state]).to.deep.equal([204, "closed"]);
    await expectProblem(form, { status: 403, slug: "csrf" });
    expect(await hook.json()).to.deep.equal({ bytes: 5 });
  });

  it("lets no customer do what agents do", async () => {
    await using app = await testApp(helpDesk());
    await app.resolve(Tickets).open("eve", "it burns", 0);
    const bob = await signedIn(app);

    const refused = await bob.post(api.close.url(1));

    await expectProblem(refused, { status: 403, slug: "authorization" });
  });

  it("names the route of a failed request in the log", async () => {
    await using app = await testApp(helpDesk());
    const bob = await signedIn(app);

    expect((await bob.get(tickets.show.url(99))).status).to.equal(404);
    await app.resolve(Tickets).open("eve", "it burns", 0);
    app.resolve(Tickets).find = () => Promise.reject(new Error("the disk is full"));
    const failed = await bob.get(tickets.show.url(1));

    expect(failed.status).to.equal(500);
    const line = app.logs.lines().find((each) => each.includes("the disk is full")) ?? "";
    expect(line).to.include('"level":"ERROR"').and.include("/tickets/{id}");
  });

  it("reminds the owner after two days, in a test that takes none", async () => {
    const clock = new FakeClock();
    const mailer = new MemoryMailer({ from: "desk@desk.example" });
    await using app = await testApp(helpDesk(), provide(Clock).useValue(clock), provide(Mailer).useValue(mailer));
    const bob = await signedIn(app);
    await bob.post(tickets.store.url(), { json: { title: "it burns" } });

    await clock.advanceAsync(TWO_DAYS - 60_000);
    expect(mailer.sent).to.have.length(0);
    await clock.advanceAsync(120_000);

    expect(mailer.sent.map(({ mail }) => mail.subject())).to.deep.equal(["Ticket 1 is still open"]);
  });

  for (const test of ["one test", "another test of the same process"])
    it(`limits sign-ins in ${test}`, async () => {
      await using app = await testApp(helpDesk());
      const client = app.withCsrf();

      const statuses = [];
      for (let at = 0; at < 3; at++) statuses.push((await client.post("/sign-in", { form: { name: "bob" } })).status);

      expect(statuses).to.deep.equal([303, 303, 429]);
    });

  it("prints a failed request and a forgotten listener where no log is installed", async () => {
    await using child = await Child.start("../journeys/help-desk/forgetful-desk.js");

    await child.says("listening on", "errors");
    const { status } = await fetch(`${child.url}/broken`);
    await child.says("the disk is full", "errors");

    expect(status).to.equal(500);
    expect(child.errors).to.include("GET /broken").and.include("Forgotten");
  });

  it("gives a script its services without a server", async () => {
    const application = helpDesk().build();

    expect(application.resolve(Reminders)).to.be.instanceOf(Reminders);
  });

  it("is built from its module alone", async () => {
    await using app = await testApp(DeskModule);

    expect(await (await app.get("/")).text()).to.equal("help desk");
  });
});
