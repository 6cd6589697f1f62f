/** Responses with members that no schema declares, in a release build: they go out unless `stripResponses` leaves them out. */
import { expect } from "chai";
import { runProgram } from "../support/program.js";

/** The settings of the application and of its endpoints. */
interface Strips {
  readonly application: boolean;
  readonly endpoint: boolean | undefined;
}

/** Gives each response of the endpoints, whose handlers return a canary at any depth, and one value that its schema refuses. */
function createProgram({ application, endpoint }: Strips): string {
  return `
    import { z } from "zod";
    const { Application, content, Get, Reply, Route, Routes } = load("entries/main.js");
    const Row = z.object({ id: z.int(), owner: z.object({ name: z.string() }), list: z.array(z.object({ id: z.int() })) });
    const row = { id: 1, owner: { name: "Ada", hash: "canary" }, list: [{ id: 2, hash: "canary" }], hash: "canary" };
    const strips = ${JSON.stringify({ stripResponses: endpoint })};
    const get = (path, response) => Get(path, { responses: { 200: response }, ...strips });
    async function* give(...items) { for (const item of items) yield item; }
    const routes = new Routes([
      Route.of(get("/json", Row), () => row),
      Route.of(get("/reply", Row), () => Reply.json(row)),
      Route.of(get("/later", Row), async () => row),
      Route.of(get("/events", content.events(Row)), () => give({ data: row })),
      Route.of(get("/texts", content.events(z.string())), () => give("7", { data: "null" })),
      Route.of(get("/lines", content.jsonLines(Row)), () => give(row, row)),
      Route.of(get("/wrong", Row), () => ({ id: "not a number" })),
    ]);
    const application = Application.create()
      .port(0).lifecycle({ drainDelayMs: 0 }).stripResponses(${application}).routes(routes).build();
    const running = await application.start();
    const responses = {};
    for (const path of ["json", "reply", "later", "events", "texts", "lines", "wrong"])
      responses[path] = await getFrom(running.url + "/" + path);
    process.stdout.write(JSON.stringify(responses));
    await running.stop();
  `;
}

interface Received {
  readonly status: number;
  readonly text: string;
}

async function receive(strips: Strips): Promise<Readonly<Record<string, Received>>> {
  const { stdout, stderr } = await runProgram(createProgram(strips), { NODE_ENV: "production" });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Readonly<Record<string, Received>>;
}

const STRIPPED = '{"id":1,"owner":{"name":"Ada"},"list":[{"id":2}]}';
const WHOLE = '{"id":1,"owner":{"name":"Ada","hash":"canary"},"list":[{"id":2,"hash":"canary"}],"hash":"canary"}';

describe("a release build", function () {
  this.timeout(60_000);

  for (const [what, strips, json] of [
    [
      "leaves out undeclared members where the application says so",
      { application: true, endpoint: undefined },
      STRIPPED,
    ],
    ["leaves out undeclared members where the endpoint says so", { application: false, endpoint: true }, STRIPPED],
    ["sends undeclared members where the endpoint says so", { application: true, endpoint: false }, WHOLE],
    ["sends undeclared members by default", { application: false, endpoint: undefined }, WHOLE],
  ] as const) {
    it(`${what}: in JSON, a reply, events and lines, and checks no value`, async () => {
      const { wrong, ...responses } = await receive(strips);

      expect(Object.fromEntries(Object.entries(responses).map(([path, { text }]) => [path, text]))).to.deep.equal({
        json,
        reply: json,
        later: json,
        events: `data: ${json}\n\n`,
        texts: 'data: "7"\n\ndata: "null"\n\n',
        lines: `${json}\n${json}\n`,
      });
      expect(wrong).to.deep.equal({ status: 200, text: '{"id":"not a number"}' });
    });
  }
});
