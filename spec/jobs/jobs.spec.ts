/** Jobs in an application: how handlers are found, what travels with a job, what is logged, and how the process ends. */
import {
  Application,
  type Context,
  Controller,
  Injectable,
  Module,
  Post,
  provide,
  Subsystem,
} from "@stagecraft/framework";
import {
  Handles,
  job,
  type JobContext,
  Jobs,
  type JobsOptions,
  JobTimeoutError,
  MemoryJobs,
} from "@stagecraft/framework/jobs";
import { Metrics, RequestId, TraceContext, tracing } from "@stagecraft/framework/observe";
import { FakeClock, type LogLine, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { type CommitScope, inCommitScope } from "../../lib/lifecycle/commit-scope.js";
import { currentWorkScope } from "../../lib/lifecycle/work-scope.js";
import { errorOf } from "../support/error-of.js";
import { rejectionOf } from "../support/rejection-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";
import { until } from "../support/until.js";
import { preparedJobs } from "./prepared-jobs.js";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const log = tracing.target("shop::mails");
const sendWelcome = job("mail.welcome", z.object({ to: z.string().max(70_000), size: z.number().optional() }));

@Injectable()
class WelcomeMails {
  readonly sent: unknown[] = [];
  run: (ctx: JobContext) => unknown = () => undefined;

  @Handles(sendWelcome)
  async send({ to }: { to: string }, ctx: JobContext) {
    this.sent.push(to);
    log.info("welcome");
    await this.run(ctx);
  }
}

@Controller("/sign-up")
class SignUp {
  constructor(private readonly jobs: Jobs) {}

  @Post("/")
  create(ctx: Context) {
    return this.jobs.dispatch(sendWelcome, { to: new URLSearchParams(ctx.querystring).get("to") ?? "" });
  }
}

@Module({
  controllers: [SignUp],
  providers: [WelcomeMails, provide(Jobs).useFactory(() => new Jobs({ store: new MemoryJobs() }))],
})
class Shop {}

const jobsWith = (options: JobsOptions) => provide(Jobs).useFactory(() => new Jobs(options));

describe("jobs of an application", () => {
  it("run in the same process, with the log lines, the ids and the scope of the request", async () => {
    await using app = await testApp(Application.create(Shop).requestId().traceContext().accessLog());
    const mails = app.resolve(WelcomeMails);
    const seen: unknown[] = [];
    mails.run = (ctx) => {
      const trace = TraceContext.of(ctx);
      seen.push(RequestId.of(ctx)?.value, trace?.traceId, currentWorkScope() === ctx, ctx.signal.aborted);
    };

    const headers = { "x-request-id": "sign-up-7", traceparent: TRACEPARENT };
    const response = await app.post("/sign-up?to=ada", { headers });
    await until(() => seen.length > 0);

    expect(await response.json()).to.include({ outcome: "created" });
    expect(seen).to.deep.equal(["sign-up-7", TRACEPARENT.slice(3, 35), true, false]);
    const [line] = app.logs.lines().filter((text) => text.includes('"welcome"'));
    expect((JSON.parse(line ?? "{}") as LogLine).fields).to.include({
      job: "mail.welcome",
      queue: "default",
      attempt: 1,
      request_id: "sign-up-7",
      trace_id: TRACEPARENT.slice(3, 35),
    });
  });

  it("are dispatched and not run by a web process with inWebProcess: false", async () => {
    await using app = await testApp(Shop, jobsWith({ store: new MemoryJobs(), inWebProcess: false }));
    await app.post("/sign-up?to=ada");
    await app.get("/up");

    expect(await app.resolve(Jobs).counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
    expect(app.resolve(WelcomeMails).sent).to.deep.equal([]);
  });

  it("log no payload, also if the schema refuses it", async () => {
    const store = new MemoryJobs();
    await using app = await testApp(Application.create(Shop).requestId().accessLog(), jobsWith({ store }));
    app.resolve(WelcomeMails).run = () => Promise.reject(new Error("not now"));
    await app.post("/sign-up?to=canary4711secret");
    const older = job<{ to: number; note: string }>("mail.welcome", undefined, { attempts: 1 });
    await app.resolve(Jobs).dispatch(older, { to: 7, note: "canary4711secret" });
    await until(
      async () => (await store.counts()).dead === 1 && app.logs.lines().some((line) => line.includes("job failed")),
    );

    expect(
      app.logs.lines().filter((line) => line.includes("canary4711") && !line.includes('"path":"/sign-up')),
    ).to.deep.equal([]);
    const [letter] = await store.dead(1);
    expect(letter?.reason).to.equal("E_JOB_PAYLOAD the schema of mail.welcome refuses the payload: to invalid_type");
  });

  it("end before the subsystems that their handlers use", async () => {
    const journal: string[] = [];
    class Post2 extends Subsystem {
      readonly kind = "mail";
      start(): void {
        journal.push("mail starts");
      }
      stop(): void {
        journal.push("mail stops");
      }
    }
    await using app = await testApp(Application.create(Shop).provide(provide(Post2).useFactory(() => new Post2())));
    const opened = new AbortController();
    app.resolve(WelcomeMails).run = async () => {
      journal.push("job begins");
      await new Promise((resolve) => opened.signal.addEventListener("abort", resolve));
      journal.push("job ends");
    };
    await app.post("/sign-up?to=ada");
    await until(() => journal.includes("job begins"));
    const stopped = app.stop();
    setImmediate(() => opened.abort());
    await stopped;

    expect(journal).to.deep.equal(["mail starts", "job begins", "job ends", "mail stops"]);
  });
});

describe("handlers of jobs", () => {
  it("are refused by build() if two methods have one job", () => {
    class Others {
      @Handles(job("mail.welcome"))
      greet(): void {}
    }
    const build = () => Application.create(Shop).provide(Others).build();

    expect(startupErrorOf(build).diagnostics).to.deep.equal([
      {
        code: "E_JOB_HANDLED_TWICE",
        what: "the job mail.welcome has more than one handler",
        where: "Others.greet and WelcomeMails.send",
        fix: "give each method a separate job, or list the class in one module and export it",
      },
    ]);
  });

  it("are inherited, and an override with a further decorator replaces the inherited handler", async () => {
    const [one, two] = [job("one"), job("two")];
    const seen: string[] = [];
    class Base {
      @Handles(one)
      first(): void {
        seen.push("base");
      }
    }
    class Derived extends Base {
      @Handles(two)
      override first(): void {
        seen.push("derived");
      }
    }
    const { jobs } = preparedJobs([new Derived()]);
    await jobs.beginWork("worker");
    await jobs.dispatch(one);
    await jobs.dispatch(two);
    await until(() => seen.length > 0);
    await until(async () => (await jobs.counts()).running === 0);
    await jobs.endWork(0);

    expect(seen).to.deep.equal(["derived"]);
    expect(await jobs.counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
  });

  it("cannot be static methods, and their decorator needs a job", () => {
    expect(errorOf(() => Handles(job("x"))(class Mails {}, "send", {} as never))).to.include({
      code: "E_DECORATOR_KIND",
    });
    expect(errorOf(() => Handles(class Mails {} as never))).to.include({ code: "E_DECORATOR_CALL" });
  });

  it("are aborted after the timeout of their job, which counts as a failure", async () => {
    const slow = job("slow", undefined, { timeoutMs: 5000 });
    const reasons: unknown[] = [];
    class Slow {
      @Handles(slow)
      run(_: undefined, { signal }: JobContext): Promise<void> {
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            reject(signal.reason as Error);
          });
        });
      }
    }
    const { jobs, clock } = preparedJobs([new Slow()]);
    await jobs.beginWork("worker");
    await jobs.dispatch(slow);
    await clock.advanceAsync(4999);
    expect(reasons).to.deep.equal([]);
    await clock.advanceAsync(1);

    expect(reasons[0]).to.be.instanceOf(JobTimeoutError);
    expect(await jobs.counts()).to.deep.equal({ waiting: 1, running: 0, dead: 0 });
    await jobs.endWork(0);
    expect(clock.pending).to.equal(0);
  });

  it("pass their signal to many operations at once without a warning of Node", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    const wide = job("wide");
    class Wide {
      @Handles(wide)
      async run(_: undefined, { signal }: JobContext): Promise<void> {
        for (let count = 0; count < 15; count++) signal.addEventListener("abort", () => count);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    process.on("warning", warn);
    const { jobs } = preparedJobs([new Wide()]);
    await jobs.beginWork("worker");
    await jobs.dispatch(wide);
    await until(async () => (await jobs.counts()).running + (await jobs.counts()).waiting === 0);
    process.off("warning", warn);

    expect(warnings).to.deep.equal([]);
    await jobs.endWork(0);
  });

  it("that ignore their signal lose the job when its lease ends, and the process continues", async () => {
    const stuck = job("stuck", undefined, { attempts: 1 });
    class Stuck {
      @Handles(stuck)
      run(): Promise<void> {
        return new Promise(() => {});
      }
    }
    const { jobs, clock } = preparedJobs([new Stuck()], { concurrency: 1 });
    await jobs.beginWork("worker");
    const { id } = await jobs.dispatch(stuck);
    await clock.advanceAsync(320_000);

    expect((await jobs.dead()).map((dead) => dead.id)).to.deep.equal([id]);
    await jobs.endWork(0);
  });
});

describe("a dispatch", () => {
  it("accepts 64 KiB of JSON, and refuses one byte more", async () => {
    const { jobs } = preparedJobs([]);
    const most = 65_536 - '{"to":""}'.length;
    await jobs.dispatch(sendWelcome, { to: "x".repeat(most) });
    const error = await rejectionOf(jobs.dispatch(sendWelcome, { to: "x".repeat(most + 1) }));

    expect(error).to.include({ code: "E_JOB_PAYLOAD", status: 500 });
    expect(error.message).to.equal(
      "the payload of mail.welcome has 65537 bytes of JSON, more than 65536: store it, and send its key",
    );
    expect((await jobs.counts()).waiting).to.equal(1);
  });

  it("may omit a payload that the schema does not require", async () => {
    const nightly = job("nightly", z.object({ full: z.boolean() }).optional());
    const seen: unknown[] = [];
    class Nights {
      @Handles(nightly)
      run(payload: { full: boolean } | undefined): void {
        seen.push(payload);
      }
    }
    const { jobs, clock } = preparedJobs([new Nights()]);
    await jobs.beginWork("worker");
    await jobs.dispatch(nightly, undefined);
    await jobs.dispatch(nightly, { full: true });
    await clock.advanceAsync(100);
    await jobs.endWork(0);

    expect(await jobs.dead()).to.deep.equal([]);
    expect(seen).to.deep.equal([undefined, { full: true }]);
  });

  const refused: readonly [string, unknown][] = [
    ["a function", () => {}],
    ["a symbol", Symbol("x")],
    ["a bigint", 1n],
    ["a cycle", Object.assign(Object.create(null), (() => ((self: { self?: unknown }) => (self.self = self))({}))())],
  ];
  for (const [what, payload] of refused) {
    it(`refuses ${what} as a payload`, async () => {
      const { jobs } = preparedJobs([]);

      expect(await rejectionOf(jobs.dispatch(job<unknown>("any"), payload))).to.include({ code: "E_JOB_PAYLOAD" });
    });
  }

  const options: readonly [string, object][] = [
    ["a negative delay", { delay: -1 }],
    ["a delay of 11 years", { delay: 347_000_000_000 }],
    ["a delay that is not a number", { delay: Number.NaN }],
    ["a priority of 101", { priority: 101 }],
    ["an empty key", { key: "" }],
    ["a key of 201 characters", { key: "x".repeat(201) }],
    ["a key with a line break", { key: "a\nb" }],
    ["an unknown rule", { unique: "always" }],
    ["an unknown option", { dealy: 5 }],
    ["a queue with a colon", { queue: "a:b" }],
  ];
  for (const [what, given] of options) {
    it(`refuses ${what}`, async () => {
      const { jobs } = preparedJobs([]);
      const error = await rejectionOf(jobs.dispatch(job("any"), undefined, given));

      expect(error)
        .to.have.property("code")
        .that.matches(/^E_(?:JOB_OPTION|JOB_NAME|OPTION)$/);
      expect((await jobs.counts()).waiting).to.equal(0);
    });
  }

  it("validates the value that the handler will get, in which a date is a text", async () => {
    const { jobs } = preparedJobs([]);
    const dated = job("dated", z.object({ at: z.date() }));
    const coerced = job("coerced", z.object({ at: z.coerce.date() }));

    expect(await rejectionOf(jobs.dispatch(dated, { at: new Date(0) }))).to.include({ code: "E_JOB_PAYLOAD" });
    expect(await jobs.dispatch(coerced, { at: new Date(0) })).to.include({ outcome: "created" });
  });

  const dropped: readonly (readonly [string, unknown, place: string])[] = [
    ["a function", { done: () => undefined }, "payload.done is of type function"],
    ["a symbol in a list", { tags: ["a", Symbol("b")] }, "payload.tags.1 is of type symbol"],
    ["a number that is not finite", { rate: Number.NaN }, "payload.rate is not a finite number"],
    ["a map", { users: new Map([[1, 2]]) }, "payload.users is an object whose content JSON does not see"],
  ];
  for (const [what, payload, place] of dropped) {
    it(`refuses ${what}, which JSON drops`, async () => {
      const { jobs } = preparedJobs([]);
      const error = await rejectionOf(jobs.dispatch(job<unknown>("any"), payload));

      expect(error).to.include({ code: "E_JOB_PAYLOAD" });
      expect(error.message).to.include(place);
    });
  }

  it("accepts a date, a member without a value and the members of a class", async () => {
    const { jobs } = preparedJobs([]);
    class Order {
      readonly id = 1;
      readonly note = undefined;
      readonly at = new Date(0);
    }

    expect(await jobs.dispatch(job<Order>("any"), new Order())).to.include({ outcome: "created" });
  });

  it("in a transaction adds the job only if the transaction commits", async () => {
    const { jobs } = preparedJobs([]);
    const kept: (() => unknown)[] = [];
    const scope: CommitScope = { afterCommit: (work) => void kept.push(work) };
    const { outcome } = await inCommitScope(scope, () => jobs.dispatch(job("tick")));
    expect([outcome, (await jobs.counts()).waiting]).to.deep.equal(["created", 0]);
    for (const work of kept) await work();

    expect((await jobs.counts()).waiting).to.equal(1);
  });
});

describe("new Jobs", () => {
  it("without a store and without a database is an error of build()", () => {
    const builder = Application.create().provide(jobsWith({}));

    expect(startupErrorOf(() => builder.build()).diagnostics.map(({ code }) => code)).to.deep.equal(["E_JOBS_STORE"]);
  });

  it("refuses options out of range, and invalid names", () => {
    const codes = [
      () => new Jobs({ concurrency: 0 }),
      () => new Jobs({ prefetch: 1.5 }),
      () => new Jobs({ queues: ["a b"] }),
      () => new Jobs({ concurency: 1 } as object),
      () => job(""),
      () => job("x", undefined, { attempts: 0 }),
      () => job("x", undefined, { timeoutMs: 2 ** 31 }),
    ].map((make) => (errorOf(make) as { code?: string }).code);

    expect(codes).to.deep.equal([
      "E_JOB_OPTION",
      "E_JOB_OPTION",
      "E_JOB_NAME",
      "E_OPTION",
      "E_JOB_NAME",
      "E_JOB_OPTION",
      "E_JOB_OPTION",
    ]);
  });

  it("retries a job after 1 s, twice as long after each failure, at most an hour", async () => {
    const failing = job("failing", undefined, { attempts: 15 });
    const times: number[] = [];
    const clock = new FakeClock();
    class Failing {
      @Handles(failing)
      run(): void {
        times.push(clock.monotonic());
        throw new Error("no");
      }
    }
    const jobs = new Jobs({ store: new MemoryJobs({ clock }) });
    jobs.prepare({ ...hostOf(clock), instances: () => [new Failing()] });
    await jobs.beginWork("worker");
    await jobs.dispatch(failing);
    for (let each = 0; each < 15; each++) await clock.advanceAsync(Math.min(1000 * 2 ** each, 3_600_000) + 1500);
    await jobs.endWork(0);

    expect(times).to.have.lengthOf(15);
    const waits = times.slice(1).map((time, index) => Math.floor((time - (times[index] ?? 0)) / 1000));
    const expected = Array.from({ length: 14 }, (_, index) => Math.min(2 ** index, 3600));
    for (const [index, wait] of waits.entries()) {
      const least = expected[index] ?? 0;
      expect(wait, `wait ${index}`).to.be.within(least, least + 2);
    }
  });
});

function hostOf(clock: FakeClock) {
  return { name: "jobs", clock, metrics: new Metrics() };
}
