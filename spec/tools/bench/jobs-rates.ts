/** The rates of one program that adds jobs without work and works them off, in a process of its own. A contender prints them as JSON. */

export interface JobsContender {
  /** All in as few calls as the contender has. */
  addAll(numbers: readonly number[]): Promise<unknown>;
  add(number: number): Promise<unknown>;
  /** Starts a worker whose handler calls `ran`. The next call comes after `stop`. */
  work(ran: () => void): Promise<{ stop(): Promise<unknown> }>;
}

/** In jobs per second. */
export interface JobsRates {
  readonly bulk: number;
  /** The jobs that were added in bulk, from the start of the worker to the end of the last handler. */
  readonly bulkDone: number;
  /** One call for each job, from as many callers as the worker has places. */
  readonly single: number;
  readonly singleDone: number;
}

const WARM_UP = 2000;
/** Jobs that are added one by one take longer. */
const SINGLE_SHARE = 4;

/** Measures what the arguments of the process ask for, prints it, and ends the process. */
export async function printRates(contender: JobsContender): Promise<never> {
  const [count = 0, concurrency = 1] = process.argv.slice(-2).map(Number);
  await contender.addAll(numbersTo(WARM_UP));
  await workOff(contender, WARM_UP);
  const bulk = await rateOf(count, () => contender.addAll(numbersTo(count)));
  const bulkDone = await workOff(contender, count);
  const few = Math.ceil(count / SINGLE_SHARE);
  const single = await rateOf(few, () => addSingly(contender, few, concurrency));
  const singleDone = await workOff(contender, few);
  process.stdout.write(`${JSON.stringify({ bulk, bulkDone, single, singleDone } satisfies JobsRates)}\n`);
  process.exit();
}

/** The rate until the last handler has ended. */
async function workOff(contender: JobsContender, count: number): Promise<number> {
  const began = performance.now();
  const { starting, ended } = await workedOff(contender, count);
  await (await starting).stop();
  return count / ((ended - began) / 1000);
}

interface WorkedOff {
  readonly starting: ReturnType<JobsContender["work"]>;
  readonly ended: number;
}

function workedOff(contender: JobsContender, count: number): Promise<WorkedOff> {
  return new Promise((resolve) => {
    let left = count;
    const starting = contender.work(() => {
      left -= 1;
      if (left === 0) resolve({ starting, ended: performance.now() });
    });
  });
}

async function addSingly(contender: JobsContender, count: number, callers: number): Promise<void> {
  let next = 0;
  const call = async (): Promise<void> => {
    while (next < count) await contender.add(next++);
  };
  await Promise.all(Array.from({ length: callers }, call));
}

async function rateOf(count: number, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return count / ((performance.now() - began) / 1000);
}

function numbersTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number);
}
