/**
 * The paths of the props that a partial reload includes. A path is the names from the page down to a prop, joined by dots. `only` includes
 * a path, the paths below it, and the paths that lead to it. `except` removes a path and the paths below it, and takes precedence over
 * `only`.
 */
import type { PageRequest } from "../protocol/page-request.js";

export class PartialFilter {
  private constructor(
    private readonly only: readonly string[] | undefined,
    private readonly except: readonly string[] | undefined,
  ) {}

  /** The filter of a partial reload of this component; `undefined` if the request is for the whole page. */
  static of({ partialComponent, only, except }: PageRequest, component: string): PartialFilter | undefined {
    return partialComponent === component ? new PartialFilter(only, except) : undefined;
  }

  /** Whether the prop is sent, or holds a prop that is. */
  includes(path: string): boolean {
    const { only } = this;
    if (only !== undefined && !only.some((named) => isAtOrBelow(path, named) || named.startsWith(`${path}.`)))
      return false;
    return !this.isExcepted(path);
  }

  /** Whether the prop itself was requested, so that its marks are sent. A prop that only contains a requested prop has no marks. */
  asksFor(path: string): boolean {
    if (this.only !== undefined && !this.only.some((named) => isAtOrBelow(path, named))) return false;
    return !this.isExcepted(path);
  }

  private isExcepted(path: string): boolean {
    return this.except !== undefined && this.except.some((named) => isAtOrBelow(path, named));
  }
}

function isAtOrBelow(path: string, named: string): boolean {
  return path === named || path.startsWith(`${named}.`);
}
