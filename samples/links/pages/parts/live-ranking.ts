/** The ranking as the server tells it: at once, and again as soon as it has changed. */
import { client } from "@stagecraft/framework/routes";
import type { ranking } from "../../links.routes.js";

type Links = Awaited<ReturnType<typeof api.list>>["links"];

/** Not all pages at once, where the server has restarted. In milliseconds. */
const PAUSE_MS = 2000;
const MAX_FURTHER_MS = 3000;

const api = client<typeof ranking>(RANKING, { origin: "" });

/** Calls `show` with each ranking. @returns a function that ends it */
export function followRanking(show: (links: Links) => void): () => void {
  const leaving = new AbortController();
  void follow(show, leaving.signal);
  return () => leaving.abort();
}

/** A stream ends with its server, and after some minutes. */
async function follow(show: (links: Links) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { data } of await api.live({ signal })) show(data.links);
    } catch {
      // The page was left, or there is no connection: the list stays as it is until there is one again.
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS + Math.random() * MAX_FURTHER_MS));
  }
}
