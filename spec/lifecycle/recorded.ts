/** Subsystems that record their calls in a journal and run the methods that a spec gives. */
import { type SubsystemKind, Subsystem } from "../../lib/lifecycle/subsystem.js";

export interface Methods {
  readonly name?: string;
  readonly start?: () => unknown;
  readonly stop?: () => unknown;
}

export class Recorded extends Subsystem {
  private readonly label: string;

  constructor(
    readonly kind: SubsystemKind,
    private readonly journal: string[] = [],
    private readonly methods: Methods = {},
  ) {
    super();
    this.label = methods.name ?? kind;
    if (methods.name !== undefined) Object.assign(this, { name: methods.name });
  }

  start(): unknown {
    this.journal.push(`start ${this.label}`);
    return this.methods.start?.();
  }

  stop(): unknown {
    this.journal.push(`stop ${this.label}`);
    return this.methods.stop?.();
  }
}

/** A recorded subsystem with a probe. */
export class Probed extends Recorded {
  constructor(
    kind: SubsystemKind,
    private readonly probeResult: (signal: AbortSignal) => unknown = () => undefined,
    name?: string,
  ) {
    super(kind, [], name === undefined ? {} : { name });
  }

  override probe(signal: AbortSignal): unknown {
    return this.probeResult(signal);
  }
}

/** A promise that stays pending. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
