/** The data of events under a contract is JSON, from the handler to the typed client: a text stays a text, a number a number. */
import { expect } from "chai";
import { z } from "zod";
import { Application, content, Get, Reply, Route, Routes, routes } from "@stagecraft/framework";
import { type ReceivedEvent } from "@stagecraft/framework/routes";
import { testApp } from "@stagecraft/framework/testing";

const Change = z.object({ id: z.int(), text: z.string().nullable() });

const TEXTS = [
  "7",
  "null",
  '"x"',
  "true",
  "",
  "plain",
  "two\nlines\r\nand\rmore",
  "ä\u2028\0",
  "data: x\n\n",
  '{"a":1}',
];
const CHANGES = [
  { id: 1, text: "a\nb" },
  { id: 2, text: null },
];

const live = routes("live", "/live", {
  texts: Get("/texts", { responses: { 200: content.events(z.string()) } }),
  members: Get("/members", { responses: { 200: content.events(z.string()) } }),
  replied: Get("/replied", { responses: { 200: content.events(z.string()) } }),
  either: Get("/either", { responses: { 200: content.events(z.union([z.string(), z.number(), z.null()])) } }),
  changes: Get("/changes", { responses: { 200: content.events(Change) } }),
  named: Get("/named", { responses: { 200: content.events(z.string().optional()) } }),
  lacking: Get("/lacking", { responses: { 200: content.events(z.string()) } }),
  open: Get("/open"),
});

async function* give<T>(items: Iterable<T>) {
  for (const item of items) yield await Promise.resolve(item);
}

const handled = new Routes([
  Route.of(live.texts, () => give(TEXTS)),
  Route.of(live.members, () => give(TEXTS.map((data) => ({ data })))),
  Route.of(live.replied, () => Reply.events(() => give(TEXTS))),
  Route.of(live.either, () => give(["7", 7, "null", null].map((data) => ({ data })))),
  Route.of(live.changes, () => give(CHANGES.map((data) => ({ event: "change", data, id: String(data.id) })))),
  Route.of(live.named, () => give([{ event: "ping", data: undefined }, { retry: 5 }, { event: "text", data: "7" }])),
  // A program without types can give an event without data.
  Route.of(live.lacking, () => give([{ data: "before" }, JSON.parse('{ "event": "ping" }') as { retry: number }])),
  Route.of(live.open, () => Reply.events(() => give(["7", { data: { id: 1 } }]))),
]);

const start = () => testApp(Application.create().routes(handled));

async function listData(events: AsyncIterable<ReceivedEvent>): Promise<readonly unknown[]> {
  const data: unknown[] = [];
  for await (const event of events) data.push(event.data);
  return data;
}

describe("the data of events under a contract", () => {
  for (const name of ["texts", "members", "replied"] as const)
    it(`is the text that the handler gave: ${name}`, async () => {
      await using app = await start();

      expect(await listData(await app.client(live)[name]())).to.deep.equal(TEXTS);
    });

  it("tells texts from numbers and null", async () => {
    await using app = await start();

    expect(await listData(await app.client(live).either())).to.deep.equal(["7", 7, "null", null]);
  });

  it("is JSON on the wire, one line an event", async () => {
    await using app = await start();

    const texts = await (await app.get("/live/texts")).text();
    const changes = await (await app.get("/live/changes")).text();

    expect(texts).to.equal(TEXTS.map((text) => `data: ${JSON.stringify(text)}\n\n`).join(""));
    expect(changes).to.contain('event: change\nid: 1\ndata: {"id":1,"text":"a\\nb"}\n\n');
  });

  it("is the object that the handler gave, beside its name and id", async () => {
    await using app = await start();
    const received: unknown[] = [];
    for await (const event of await app.client(live).changes()) received.push(event);

    expect(received).to.deep.equal(CHANGES.map((data) => ({ event: "change", data, id: String(data.id) })));
  });

  it("is undefined where the schema takes an event with a name alone", async () => {
    await using app = await start();

    expect(await listData(await app.client(live).named())).to.deep.equal([undefined, "7"]);
  });

  it("may not be left out where the schema needs it", async () => {
    await using app = await start();
    const seen: unknown[] = [];
    const loop = async (): Promise<void> => {
      for await (const { data } of await app.client(live).lacking()) seen.push(data);
    };

    expect(await loop().catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(seen).to.deep.equal(["before"]);
  });

  it("is the text of the line without a contract", async () => {
    await using app = await start();
    const events = (await app.client(live).open()) as AsyncIterable<ReceivedEvent>;

    expect(await listData(events)).to.deep.equal(["7", '{"id":1}']);
  });
});
