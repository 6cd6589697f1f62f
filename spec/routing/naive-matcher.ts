/**
 * The rules of matching in their simplest form. It tries every template, sorts those that match, and compares the method last. It is slow;
 * the specs compare the matcher with it.
 */
import { toCanonicalPath, decodePart } from "../../lib/endpoints/percent-encoding.js";
import type { BoundRoute } from "../../lib/routing/matcher.js";

export type Expected =
  | { readonly kind: "route"; readonly route: BoundRoute; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: "malformed" | "not-found" }
  | { readonly kind: "options" | "method-not-allowed"; readonly allow: string };

export function naiveMatch(routes: readonly BoundRoute[], method: string, path: string): Expected {
  const canonical = toCanonicalPath(path);
  if (canonical === undefined) return { kind: "malformed" };
  const matching = routes.filter((route) => captures(route, canonical) !== undefined);
  if (matching.length === 0) return { kind: "not-found" };
  const shapes = [...new Set(matching.map(({ path: { shape } }) => shape))].map((shape) =>
    matching.filter((route) => route.path.shape === shape),
  );
  const bySpecificity = shapes.toSorted(([a], [b]) => (a && b ? a.path.compare(b.path) : 0));
  for (const sameTemplate of bySpecificity) {
    const route = findForMethod(sameTemplate, method);
    if (route) return { kind: "route", route, params: captures(route, path) ?? {} };
  }
  return { kind: method === "OPTIONS" ? "options" : "method-not-allowed", allow: allow(matching) };
}

function findForMethod(routes: readonly BoundRoute[], method: string): BoundRoute | undefined {
  for (const wanted of method === "HEAD" ? ["HEAD", "GET", "ANY"] : [method, "ANY"]) {
    const found = routes.find((route) => route.method === wanted);
    if (found) return found;
  }
  return undefined;
}

function allow(routes: readonly BoundRoute[]): string {
  const methods = routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return [...new Set([...methods, "OPTIONS"])].toSorted().join(", ");
}

function captures({ path }: BoundRoute, request: string): Record<string, string> | undefined {
  const parts = request.slice(1).split("/");
  const params: [string, string][] = [];
  for (const [at, { kind, text }] of path.segments.entries()) {
    const part = kind === "catch-all" ? parts.slice(at).join("/") : parts[at];
    if (part === undefined || (kind !== "literal" && part === "")) return undefined;
    if (kind === "literal") {
      if (toCanonicalPath(part) !== text) return undefined;
    } else {
      params.push([text, decodePart(part) ?? part]);
    }
    if (kind === "catch-all") return Object.fromEntries(params);
  }
  return parts.length === path.segments.length ? Object.fromEntries(params) : undefined;
}
