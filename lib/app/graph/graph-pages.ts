/**
 * The pages of an application for the graph: those that routes declare and those of `.pageContracts(…)`. The contract of a page, registered
 * there, gives the JSON Schema of its props. A contract that is a type alone does not exist at run time.
 */
import type { PageContractRegistry, ShapeArtifact } from "../../stages/pages/contract-registry.js";
import type { GraphSchema } from "./graph-shapes.js";

export interface GraphPage {
  readonly name: string;
  /** The JSON Schema of the props that its handlers give, of draft 2020-12. Absent for a page without a registered contract. */
  readonly props?: GraphSchema;
}

/** @param declared the pages that routes declare */
export function describePages(
  declared: readonly string[],
  contracts: PageContractRegistry | undefined,
): readonly GraphPage[] {
  const registered = contracts?.artifact().contracts ?? [];
  const props = new Map(registered.map((each) => [each.component, describeMembers(each.props)]));
  return [...new Set([...declared, ...props.keys()])].toSorted().map((name) => {
    const schema = props.get(name);
    return { name, ...(schema !== undefined && { props: schema }) };
  });
}

/** Further members are allowed: a page has its errors and the shared props too. */
function describeMembers(members: NonNullable<ShapeArtifact["members"]>): GraphSchema {
  const required = Object.keys(members).filter((name) => members[name]?.optional !== true);
  const properties = Object.fromEntries(Object.entries(members).map(([name, each]) => [name, describeShape(each)]));
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

function describeShape({ type, inner, members = {} }: ShapeArtifact): GraphSchema {
  const schema = inner === undefined ? {} : describeShape(inner);
  if (type === "nullable") return { anyOf: [schema, { type: "null" }] };
  if (type === "array") return { type, items: schema };
  return type === "object" ? describeMembers(members) : { type };
}
