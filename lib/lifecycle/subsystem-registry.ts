/**
 * The subsystems of one application, in the order in which they start, each under the name by which events, errors and health checks
 * speak of it: `database`, or `database:Ledger` as soon as there is a second one of the kind (details, 4.1).
 */
import type { Diagnostic } from "../errors/diagnostic.js";
import { SUBSYSTEM_KINDS, type Subsystem } from "./subsystem.js";

export interface RegisteredSubsystem {
  readonly name: string;
  readonly subsystem: Subsystem;
}

export class SubsystemRegistry {
  /** In start order: by kind, and within a kind as registered. */
  readonly members: readonly RegisteredSubsystem[];

  constructor(registered: readonly Subsystem[] = []) {
    const kinds = registered.map(({ kind }) => kind);
    this.members = registered
      .toSorted((one, other) => SUBSYSTEM_KINDS.indexOf(one.kind) - SUBSYSTEM_KINDS.indexOf(other.kind))
      .map((subsystem) => ({ name: nameAmong(kinds, subsystem), subsystem }));
  }

  /** What keeps these subsystems from being started; empty where nothing does. */
  check(): readonly Diagnostic[] {
    return [...this.members.flatMap(unknownKind), ...this.repeatedNames()];
  }

  private repeatedNames(): Diagnostic[] {
    const names = this.members.map(({ name }) => name);
    const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
    return [...repeated].map((name) => ({
      code: "E_SUBSYSTEM_NAME",
      what: `two subsystems are called ${name}`,
      where: `providers of kind ${name.slice(0, name.indexOf(":"))}`,
      fix: "give each of them a `name` of its own",
    }));
  }
}

function nameAmong(kinds: readonly string[], subsystem: Subsystem): string {
  const { kind } = subsystem;
  return kinds.indexOf(kind) === kinds.lastIndexOf(kind) ? kind : `${kind}:${ownName(subsystem)}`;
}

function ownName({ name, constructor }: Subsystem): string {
  if (name !== undefined && name.trim() !== "") return name;
  return constructor.name === "" ? "anonymous" : constructor.name;
}

function unknownKind({ subsystem }: RegisteredSubsystem): Diagnostic[] {
  if (SUBSYSTEM_KINDS.includes(subsystem.kind)) return [];
  return [
    {
      code: "E_SUBSYSTEM_KIND",
      what: `${JSON.stringify(subsystem.kind)} is no kind of subsystem`,
      where: ownName(subsystem),
      fix: `set \`kind\` to one of ${SUBSYSTEM_KINDS.join(", ")}`,
    },
  ];
}
