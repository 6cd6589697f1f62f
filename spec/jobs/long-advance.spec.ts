/** A test that advances the clock of an application with jobs by days. */
import { Clock, Injectable, Module, provide } from "@stagecraft/framework";
import { Every, Handles, job, Jobs, MemoryJobs, schedule } from "@stagecraft/framework/jobs";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";

const HOUR_MS = 3_600_000;

const remind = job("remind");

@Injectable()
class Reminders {
  readonly reminded: number[] = [];
  sweeps = 0;

  constructor(private readonly clock: Clock) {}

  @Handles(remind)
  remind(): void {
    this.reminded.push(this.clock.monotonic());
  }

  @Every(schedule("sweep", "0 * * * *"))
  sweep(): void {
    this.sweeps += 1;
  }
}

@Module({
  providers: [
    Reminders,
    provide(Jobs).useFactory((resolve) => new Jobs({ store: new MemoryJobs({ clock: resolve(Clock) }) })),
  ],
})
class Shop {}

describe("a test of an application with jobs", () => {
  it("advances the clock by two days at once: each job runs at its time, and the idle polls are skipped", async () => {
    const clock = new FakeClock();
    await using app = await testApp(Shop, provide(Clock).useValue(clock));
    const began = clock.monotonic();
    await app.resolve(Jobs).dispatch(remind, undefined, { delay: 5 * HOUR_MS });

    await clock.advanceAsync(48 * HOUR_MS);

    const reminders = app.resolve(Reminders);
    expect(reminders.sweeps).to.equal(48);
    expect(reminders.reminded).to.have.length(1);
    expect(reminders.reminded[0]).to.be.within(began + 5 * HOUR_MS, began + 5 * HOUR_MS + 20_000);
  });
});
