/**
 * An application with every decorator of the framework, above classes and above methods, which prints what it does. The text is the same
 * for legacy and for standard decorators, since all injection is by `inject`.
 */
import {
  Application,
  type Class,
  Clock,
  type Context,
  type ContextOf,
  Controller,
  event,
  Events,
  Get,
  guard,
  Guards,
  inject,
  Injectable,
  Middleware,
  Module,
  type Next,
  On,
  Post,
  provide,
  resource,
  routes,
  UnauthorizedError,
} from "@stagecraft/framework";
import { Every, Handles, job, Jobs, MemoryJobs, schedule, type ScheduledTick } from "@stagecraft/framework/jobs";
import { FakeClock, testApp } from "@stagecraft/framework/testing";

const clock = new FakeClock();
const seen: string[] = [];
const passed: string[] = [];
const links = routes("links", "/links", { index: Get("/"), show: Get("/{id}"), create: Post("/") });
const photos = resource("photos", "/photos", { only: ["index", "show"] });
const signedIn = guard<{ user: string }>("signed-in");
const role = guard<object, [role: string]>("role");
const secrets = routes("secrets", "/secrets", { index: Get("/", { guards: [role("ada")] }) }, { guards: [signedIn] });
const badges = resource("badges", "/badges", { only: ["index", "show"], guards: [signedIn] });
const shown = event<{ id: string }>("link.shown");
const index = job<{ id: string }>("links.index");
const hourly = schedule("links.sweep", "0 * * * *");

class Store {
  readonly title = "links";
}

class Step {
  readonly name: string = "outer";
  handle(ctx: Context, next: Next): unknown {
    if (ctx.path !== "") passed.push(this.name);
    return next();
  }
}
class First extends Step {
  override readonly name = "first";
}
class Second extends Step {
  override readonly name = "second";
}
class Third extends Step {
  override readonly name = "third";
}

class Announcer {
  @On(shown) hear({ id }: { id: string }) {
    seen.push(`not reached ${id}`);
  }
  @On(shown) inherited() {
    seen.push("inherited");
  }
}

@Injectable()
class LoudAnnouncer extends Announcer {
  @On(shown) patched() {
    seen.push("not reached");
  }
  get trap(): string {
    throw new Error("the getter is called");
  }
  @On(shown) override hear({ id }: { id: string }) {
    seen.push(`heard ${id}`);
  }
}

// As a spy of a test does.
LoudAnnouncer.prototype.patched = () => void seen.push("patched");

class Accounts {
  @Guards(signedIn) check(ctx: Context) {
    passed.push("check");
    if (ctx.get("authorization") === "") throw new UnauthorizedError();
    return { user: "not reached" };
  }
  @Guards(role) hasRole(_ctx: Context, wanted: string) {
    passed.push(wanted);
  }
}

@Injectable()
class StrictAccounts extends Accounts {
  private readonly store = inject(Store);
  override check(ctx: Context) {
    super.check(ctx);
    return { user: `${ctx.get("authorization")} of ${this.store.title}` };
  }
}

class Indexer {
  private readonly store = inject(Store);
  @Handles(index) run({ id }: { id: string }) {
    seen.push(`indexed ${this.store.title} ${id}`);
  }
  @Every(hourly) sweep({ due }: ScheduledTick) {
    seen.push(`swept at ${due.slice(11, 16)}`);
  }
}

class Base {
  static readonly helper = (): string => "here and there";
  @Get("/base") base() {
    return "base";
  }
  @Get("/overridden") @Middleware(First) overridden() {
    return "not reached";
  }
  @Get("/gone") redecorated() {
    return "not reached";
  }
  // esbuild passes this name as a number.
  @Get("/1") 1() {
    return "one";
  }
}

/** For the other file. */
class Foundation {
  @Get("/founded") founded() {
    return "founded";
  }
  @Get("/old") redecorated() {
    return "not reached";
  }
}

@Controller("/panel")
@Middleware(Step)
class Panel extends Base {
  @Get("/patched") @Middleware(First) patched() {
    return "not reached";
  }
  get trap(): string {
    throw new Error("the getter is called");
  }
  override overridden() {
    return "overridden";
  }
  @Get("/here") @Get("/there") override redecorated() {
    return Panel.helper();
  }
}

Panel.prototype.patched = () => "patched";

@Controller(links)
class Links {
  constructor(
    private readonly store = inject(Store),
    private readonly events = inject(Events),
    private readonly jobs = inject(Jobs),
  ) {}

  @links.index
  @Middleware(First, Second)
  @Middleware(Third)
  index() {
    return this.store.title;
  }
  @links.show async show({ params }: Context<"id">) {
    await this.events.emit(shown, { id: params.id });
    return params.id;
  }
  @links.create async create() {
    const { outcome } = await this.jobs.dispatch(index, { id: "7" });
    return outcome;
  }
}

@Controller(photos)
class Photos {
  index() {
    return "photos";
  }
  @photos.show display({ params }: Context<"id">) {
    return `photo ${params.id}`;
  }
}

@Middleware(First)
@Controller(secrets)
class Secrets {
  @Middleware(Second) @secrets.index index({ user }: ContextOf<typeof secrets.index>) {
    return user;
  }
}

@Controller(badges)
@Middleware(First)
class Badges {
  @Middleware(Second) index({ user }: ContextOf<typeof badges.index>) {
    return user;
  }
  @badges.show @Middleware(Second) display({ user }: ContextOf<typeof badges.show>) {
    return user;
  }
}

@Controller("/guarded")
@Middleware(First)
class Guarded {
  @Middleware(Second) @Get("/", { guards: [signedIn] }) index() {
    return "guarded";
  }
}

@Module({
  providers: [
    StrictAccounts,
    Store,
    Step,
    First,
    Second,
    Third,
    LoudAnnouncer,
    Indexer,
    provide(Clock).useValue(clock),
    provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs({ clock }) })),
  ],
  exports: [Store, Step, First, Second, Third, Jobs],
})
class Services {}

/** What the file of another kind gives: a controller that extends a class of this one, and a class for a controller of this one. */
interface OtherPart {
  readonly extendController: (base: Class<object>) => Class;
  readonly Origin: Class<object>;
}

async function findMore(): Promise<readonly Class[]> {
  const file = process.env["OTHER_PART"];
  if (file === undefined) return [];
  // The file is compiled from other-part.ts.
  const { extendController, Origin } = (await import(new URL(file, import.meta.url).href)) as OtherPart;

  @Controller("/derived")
  class Derived extends Origin {
    @Get("/added") added() {
      return "added";
    }
  }
  return [extendController(Foundation), Derived];
}

async function main(): Promise<void> {
  const more = await findMore();

  @Module({ imports: [Services], controllers: [Panel, Links, Photos, Secrets, Badges, Guarded, ...more] })
  class Shop {}

  const app = await testApp(Application.create(Shop));
  const paths = [
    "/panel/base",
    "/panel/overridden",
    "/panel/gone",
    "/panel/here",
    "/panel/there",
    "/panel/1",
    "/panel/patched",
  ];
  paths.push("/links", "/links/7", "/photos", "/photos/3");
  if (more.length > 0) paths.push("/other/founded", "/other/new", "/other/old", "/derived/origin", "/derived/added");
  for (const path of paths) {
    const response = await app.get(path);
    const text = response.status === 200 ? await response.text() : "";
    console.log([path, response.status, ...passed.splice(0), text].join(" ").trim());
  }
  for (const path of ["/secrets", "/badges", "/badges/1", "/guarded"]) {
    const refused = await app.get(path);
    const response = await app.get(path, { headers: { authorization: "ada" } });
    console.log(path, refused.status, response.status, ...passed.splice(0), await response.text());
  }
  const created = await app.post(links.create.url());
  console.log(links.create.url(), created.status, await created.text());
  await clock.advanceAsync(3_600_000);
  await app.stop();
  console.log(seen.join(", "));
}

void main();
