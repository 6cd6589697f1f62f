/** An application whose visitors sign in, and races of their sessions: for the specs of all stores. */
import { Application, Clock, provide, Route, Routes, type Context } from "@stagecraft/framework";
import { Session, SessionConfig, Sessions, type SessionStore } from "@stagecraft/framework/session";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { randomBytes } from "node:crypto";

const routes = new Routes([
  Route.get("/user", async (ctx: Context) => (await Session.of(ctx).get("user")) ?? "nobody"),
  Route.post("/sign-in/{user}", (ctx: Context<"user">) => {
    const session = Session.of(ctx);
    session.regenerate();
    session.put("user", ctx.params.user);
    session.setOwner(ctx.params.user);
  }),
  Route.post("/regenerate", (ctx: Context) => Session.of(ctx).regenerate()),
  Route.post("/note", (ctx: Context) => Session.of(ctx).put("note", "noted")),
  Route.post("/sign-out", (ctx: Context) => Session.of(ctx).flush()),
  Route.post("/release", (ctx: Context) => Session.of(ctx).setOwner(undefined)),
  Route.post("/others", async (ctx: Context) => {
    const { key } = Session.of(ctx);
    return { ended: await Sessions.of(ctx).endAll("ada", { except: (session) => session.key === key }) };
  }),
]);

export function startOwned(store?: SessionStore, clock: Clock = new FakeClock(), options = {}): Promise<TestApp> {
  const config = new SessionConfig("5a".repeat(64), options);
  return testApp(Application.create().session(config, store).routes(routes), provide(Clock).useValue(clock));
}

export type Browser = ReturnType<TestApp["withCookies"]>;

export async function signIn(app: TestApp, user: string): Promise<Browser> {
  const browser = app.withCookies();
  expect((await browser.post(`/sign-in/${user}`)).status).to.equal(204);
  return browser;
}

export async function getUser(browser: Browser): Promise<string> {
  return (await browser.get("/user")).text();
}

const TIMES = { now: 1, startedAt: 1, idleMs: 3_600_000, absoluteMs: 3_600_000, renew: true };
const SESSIONS = 5;
const MOVES = 20;

const createKey = () => randomBytes(32).toString("base64url");

/**
 * Sessions of one owner get a new id again and again while another process ends all of them. None is left.
 *
 * @param used the store of the process of the requests
 */
export async function endsWhileTheyMove(used: SessionStore, other: SessionStore): Promise<void> {
  const owner = createKey();
  const changes = { set: new Map([["_owner", JSON.stringify(owner)]]), deleted: [] };
  const keys = Array.from({ length: SESSIONS }, createKey);
  for (const key of keys) await used.create(key, changes.set, TIMES);
  const move = async (from: string) => {
    let key = from;
    for (let count = 0; count < MOVES; count++) {
      const to = createKey();
      if (typeof (await used.move(key, to, changes, TIMES)) === "string") return;
      key = to;
    }
  };
  await using app = await startOwned(other, new FakeClock(2));
  const sessions = app.resolve(Sessions);

  const moving = Promise.all(keys.map(move));
  expect(await sessions.endAll(owner)).to.be.at.least(SESSIONS);
  expect(await sessions.list(owner)).to.deep.equal([]);
  await moving;
  expect(await sessions.list(owner)).to.deep.equal([]);
}
