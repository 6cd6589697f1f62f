/**
 * The subsystems of one application in start order, each with its name for events, errors and health checks: `database`, or
 * `database:Ledger` where there are several of the kind.
 */
import type { Diagnostic } from "../errors/diagnostic.js";
import { SUBSYSTEM_KINDS, type Subsystem } from "./subsystem.js";

export interface RegisteredSubsystem {
  readonly name: string;
  readonly subsystem: Subsystem;
}

export class SubsystemRegistry {
  /** In start order: by kind, and in the order of registration within a kind. */
  readonly members: readonly RegisteredSubsystem[];

  constructor(registered: readonly Subsystem[] = []) {
    const kinds = registered.map(({ kind }) => kind);
    this.members = registered
      .toSorted((one, other) => SUBSYSTEM_KINDS.indexOf(one.kind) - SUBSYSTEM_KINDS.indexOf(other.kind))
      .map((subsystem) => ({ name: chooseName(kinds, subsystem), subsystem }));
  }

  /** One diagnostic for each unknown kind and each repeated name, and those of the subsystems. */
  check(): readonly Diagnostic[] {
    return [...this.members.flatMap(describeUnknownKind), ...this.repeatedNames(), ...this.memberDiagnostics()];
  }

  private memberDiagnostics(): readonly Diagnostic[] {
    const all = this.members.map(({ subsystem }) => subsystem);
    return all.flatMap((each) => each.check?.(all) ?? []);
  }

  private repeatedNames(): Diagnostic[] {
    const names = this.members.map(({ name }) => name);
    const repeated = new Set(names.filter((name, index) => names.indexOf(name) !== index));
    return [...repeated].map((name) => ({
      code: "E_SUBSYSTEM_NAME",
      what: `more than one subsystem has the name ${name}`,
      where: `providers of kind ${name.slice(0, name.indexOf(":"))}`,
      fix: "give each of them a different `name`",
    }));
  }
}

function chooseName(kinds: readonly string[], subsystem: Subsystem): string {
  const { kind } = subsystem;
  const isOnly = kinds.indexOf(kind) === kinds.lastIndexOf(kind);
  return isOnly ? kind : `${kind}:${getDisplayName(subsystem)}`;
}

function getDisplayName({ name, constructor }: Subsystem): string {
  if (name !== undefined && name.trim() !== "") return name;
  return constructor.name === "" ? "anonymous" : constructor.name;
}

function describeUnknownKind({ subsystem }: RegisteredSubsystem): Diagnostic[] {
  if (SUBSYSTEM_KINDS.includes(subsystem.kind)) return [];
  return [
    {
      code: "E_SUBSYSTEM_KIND",
      what: `${JSON.stringify(subsystem.kind)} is not a kind of subsystem`,
      where: getDisplayName(subsystem),
      fix: `set \`kind\` to one of ${SUBSYSTEM_KINDS.join(", ")}`,
    },
  ];
}
