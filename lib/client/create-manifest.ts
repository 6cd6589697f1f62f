/**
 * Creates the manifest of a table. A front end that imports the type of a table, and its manifest instead of the table, bundles no schemas.
 * A front end does not need this file: a build step runs it.
 *
 * @example
 * writeFileSync("links.manifest.json", JSON.stringify(createManifest(links)));
 */
import { getFullTemplate, type AnyEndpoint } from "../endpoints/endpoint.js";
import { type RoutesManifest, toManifestEntry } from "./manifest.js";

/** @param table a table or a resource. The prefixes of its controllers are in the manifest after `build()`. */
export function createManifest(table: object): RoutesManifest {
  const entries = Object.entries(table as Readonly<Record<string, AnyEndpoint>>);
  return Object.fromEntries(
    entries.map(([name, endpoint]) => [name, toManifestEntry(endpoint, getFullTemplate(endpoint))]),
  );
}
