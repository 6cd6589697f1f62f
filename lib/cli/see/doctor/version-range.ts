/**
 * Whether a version is in a range of the forms that the package.json of the framework has: `>=1.2.0 <2`, `^1.2.0`, `~1.2.0`, `1.2.0`. Not for
 * the ranges of other packages.
 */
type Version = readonly [major: number, minor: number, patch: number];

/** A pre-release counts as its release. */
export function isInRange(version: string, range: string): boolean {
  const parsed = parseVersion(version);
  return range.split(" ").every((comparator) => satisfies(parsed, comparator));
}

function satisfies(version: Version, comparator: string): boolean {
  const [, operator = "", text = ""] = /^(>=|<|\^|~|)(.*)$/.exec(comparator) ?? [];
  const bound = parseVersion(text);
  const order = compare(version, bound);
  if (operator === "<") return order < 0;
  if (operator === ">=") return order >= 0;
  if (operator === "") return order === 0;
  return order >= 0 && compare(version, getEnd(operator, bound)) < 0;
}

/** The first version after `^1.2.3`, `^0.2.3` or `~1.2.3`. */
function getEnd(operator: string, [major, minor]: Version): Version {
  return operator === "^" && major > 0 ? [major + 1, 0, 0] : [major, minor + 1, 0];
}

function parseVersion(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = (text.split(/[-+]/, 1)[0] ?? "").split(".").map(Number);
  return [major, minor, patch];
}

function compare(left: Version, right: Version): number {
  const at = left.findIndex((part, index) => part !== right[index]);
  return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}
