/** A process of its own for jobs: works until a signal, and prints what happens. */
import { Application, provide, Subsystem } from "@stagecraft/framework";
import { Handles, job, Jobs, MemoryJobs } from "@stagecraft/framework/jobs";

const tick = job("tick");

class Ticker {
  @Handles(tick)
  async run(): Promise<void> {
    console.log("job begins");
    await new Promise((resolve) => setTimeout(resolve, 300));
    console.log("job ends");
  }
}

class Mail extends Subsystem {
  readonly kind = "mail";
  start(): void {
    console.log("mail starts");
  }
  stop(): void {
    console.log("mail stops");
  }
}

const jobs = new Jobs({ store: new MemoryJobs(), inWebProcess: false });
const application = Application.create()
  .provide(provide(Jobs).useValue(jobs), Ticker, provide(Mail).useValue(new Mail()))
  .build();
const working = application.work();
await jobs.dispatch(tick);
await working;
console.log("over");
