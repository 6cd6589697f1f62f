/**
 * The contracts of an application at run time. In a debug build the log has a warning for each page that does not fit its contract.
 * `artifact()` returns all contracts as data, for tools that check or document a front end: the same contracts give the same bytes.
 *
 * @example
 * Application.create(LinksModule).pages(new Pages()).pageContracts(new PageContracts().register(linksIndex));
 */
import type { Diagnostic } from "../../errors/diagnostic.js";
import { Extension, type Extensible } from "../../http/request/extension.js";
import { findMisfit, type PageContract, type Shape, type ShapeTable } from "./contract-shape.js";

const ARTIFACT = "framework.page-contract.v1";

/** A contract as data. Members are sorted by name. */
export interface ContractArtifact {
  readonly artifact: typeof ARTIFACT;
  readonly contracts: readonly {
    readonly component: string;
    readonly props: Readonly<Record<string, ShapeArtifact>>;
  }[];
}

export interface ShapeArtifact {
  readonly type: Shape["kind"];
  readonly optional?: true;
  readonly inner?: ShapeArtifact;
  readonly members?: Readonly<Record<string, ShapeArtifact>>;
}

export class PageContractRegistry {
  private readonly contracts = new Map<string, PageContract>();
  private readonly found: Diagnostic[] = [];

  /** Adds contracts. `build()` reports a second contract of one component, and a component whose name differs from another only in case. */
  register(...contracts: readonly PageContract[]): this {
    for (const each of contracts) {
      const key = toKey(each.component);
      const known = this.contracts.get(key);
      if (known === undefined) this.contracts.set(key, each);
      else this.found.push(describeRepeated(known.component, each.component));
    }
    return this;
  }

  /** @internal */
  diagnostics(): readonly Diagnostic[] {
    return this.found;
  }

  /** All contracts as data, sorted by component. */
  artifact(): ContractArtifact {
    const contracts = [...this.contracts.values()]
      .toSorted((one, other) => (one.component < other.component ? -1 : 1))
      .map(({ component, props }) => ({ component, props: toArtifacts(props) }));
    return { artifact: ARTIFACT, contracts };
  }

  /** The reason why the props of a page do not fit its contract; `undefined` if they fit, or if the component has no contract. @internal */
  findMisfit(component: string, props: Readonly<Record<string, unknown>>, isWhole: boolean): string | undefined {
    const known = this.contracts.get(toKey(component));
    return known?.component === component ? findMisfit(known.props, props, isWhole) : undefined;
  }

  /** The registry of the application that handles the request. */
  static find(ctx: Extensible): PageContractRegistry | undefined {
    return RegistryOfRequest.find(ctx);
  }
}

/** Set by the stage of the contracts. @internal */
export const RegistryOfRequest = new Extension<PageContractRegistry>("page contracts");

/** Names that differ only in the case of A to Z have the same key, because some file systems treat them as one file. */
function toKey(component: string): string {
  return component.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function toArtifacts(table: ShapeTable): Readonly<Record<string, ShapeArtifact>> {
  const sorted = Object.entries(table).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, each]) => [name, toArtifact(each)]));
}

function toArtifact({ kind, isOptional, inner, members }: Shape): ShapeArtifact {
  return {
    type: kind,
    ...(isOptional && { optional: true as const }),
    ...(inner !== undefined && { inner: toArtifact(inner) }),
    ...(members !== undefined && { members: toArtifacts(members) }),
  };
}

function describeRepeated(known: string, second: string): Diagnostic {
  const what =
    known === second
      ? `the component "${known}" has two contracts`
      : `the components "${known}" and "${second}" differ only in case`;
  return { code: "E_PAGE_CONTRACT", what, where: ".pageContracts(…)", fix: "remove one of the two" };
}
