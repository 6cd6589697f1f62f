/**
 * The checked-in figures: what one request of a scenario costs, in calls of functions and in instructions. Time is not stable on a shared
 * machine; these are. A cost above its figure and the tolerance is a failure; a cost below asks for a new figure.
 */

export const SCENARIOS = ["hello", "param", "full", "echo", "echo-schema"] as const;

export type Scenario = (typeof SCENARIOS)[number];

/** The cost of one request of each scenario; a scenario that was not counted is absent. */
export type Costs = Readonly<Partial<Record<Scenario, number>>>;

export interface Figures {
  /** Calls of functions of the framework and of its dependencies: the same on every machine. */
  readonly calls: Costs;
  /** Instructions in user mode, by the major version of Node, the architecture and the counter: `v20 x64` by `perf`, `v20 x64 valgrind`. */
  readonly instructions: Readonly<Record<string, Costs>>;
}

export interface Verdict {
  readonly line: string;
  readonly failed: boolean;
}

/**
 * @param unit the name of the cost, for example "calls"
 * @param tolerance the share by which a cost may be above or below its figure
 */
export function judge(unit: string, costs: Costs, figures: Costs, tolerance: number): readonly Verdict[] {
  return SCENARIOS.flatMap((scenario) => {
    const [cost, figure] = [costs[scenario], figures[scenario]];
    return cost === undefined
      ? []
      : [verdict(`${scenario}: ${shown(cost)} ${unit} a request`, cost, figure, tolerance)];
  });
}

function verdict(what: string, cost: number, figure: number | undefined, tolerance: number): Verdict {
  if (figure === undefined) return { line: `${what}, without a figure`, failed: false };
  const change = cost / figure - 1;
  const against = `${what}, ${change < 0 ? "" : "+"}${(change * 100).toFixed(1)} % of the figure ${shown(figure)}`;
  // A cost that is not a number is a fault of the count.
  if (!(change <= tolerance)) return { line: `${against}: above the tolerance of ${tolerance * 100} %`, failed: true };
  if (change < -tolerance) return { line: `${against}: write the new figure with -- --write`, failed: false };
  return { line: against, failed: false };
}

/** The figures with the new costs; other machines keep theirs. */
export function withCosts(figures: Figures, calls: Costs, machine: string, instructions: Costs): Figures {
  const counted = Object.keys(instructions).length > 0;
  return {
    calls: { ...figures.calls, ...rounded(calls) },
    instructions: counted
      ? { ...figures.instructions, [machine]: { ...figures.instructions[machine], ...rounded(instructions) } }
      : figures.instructions,
  };
}

function rounded(costs: Costs): Costs {
  return Object.fromEntries(Object.entries(costs).map(([scenario, cost]) => [scenario, Math.round(cost * 10) / 10]));
}

function shown(cost: number): string {
  return cost.toFixed(cost < 10_000 ? 1 : 0);
}
