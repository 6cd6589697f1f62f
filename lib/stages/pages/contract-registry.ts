/**
 * The contracts of an application at run time. In a debug build a page that does not fit its contract is a warning in the log. `artifact()`
 * gives all of them as data, for tools that check a front end or document it: the same contracts give the same bytes.
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

  /** Adds contracts. A second one of a component is a fault that `build()` reports, and so is one that differs only in case. */
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
      .toSorted((a, b) => (a.component < b.component ? -1 : 1))
      .map(({ component, props }) => ({ component, props: toArtifacts(props) }));
    return { artifact: ARTIFACT, contracts };
  }

  /** Why the props of a page do not fit its contract; `undefined` where they do, or there is none. @internal */
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

/** The same for names that differ only in the case of A to Z: some file systems take both for one file. */
function toKey(component: string): string {
  return component.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function toArtifacts(table: ShapeTable): Readonly<Record<string, ShapeArtifact>> {
  const sorted = Object.entries(table).toSorted(([a], [b]) => (a < b ? -1 : 1));
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
  return { code: "E_PAGE_CONTRACT", what, where: ".pageContracts(…)", fix: "leave one of the two" };
}
