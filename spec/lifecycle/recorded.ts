/** A subsystem that writes down what happens to it, and does what a spec tells it to. */
import { type SubsystemKind, Subsystem } from "../../lib/lifecycle/subsystem.js";

export interface Deeds {
  readonly name?: string;
  readonly start?: () => unknown;
  readonly stop?: () => unknown;
}

export class Recorded extends Subsystem {
  private readonly label: string;

  constructor(
    readonly kind: SubsystemKind,
    private readonly journal: string[] = [],
    private readonly deeds: Deeds = {},
  ) {
    super();
    this.label = deeds.name ?? kind;
    if (deeds.name !== undefined) Object.assign(this, { name: deeds.name });
  }

  start(): unknown {
    this.journal.push(`start ${this.label}`);
    return this.deeds.start?.();
  }

  stop(): unknown {
    this.journal.push(`stop ${this.label}`);
    return this.deeds.stop?.();
  }
}

/** One that can be asked how it is. */
export class Probed extends Recorded {
  constructor(
    kind: SubsystemKind,
    private readonly answer: (signal: AbortSignal) => unknown = () => undefined,
    name?: string,
  ) {
    super(kind, [], name === undefined ? {} : { name });
  }

  override probe(signal: AbortSignal): unknown {
    return this.answer(signal);
  }
}

/** What is still on its way after every turn of the event loop. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
