/**
 * Renders pages on the server, so that the first document shows its content before, or without, scripts. A port: `WorkerPageRenderer`
 * renders in a separate thread, `VitePageRenderer` asks Vite's development server. Off unless it is given to `new Pages({ renderer })`.
 *
 * If a renderer fails, the browser renders the page.
 */
import { ShutdownLast } from "../../../lifecycle/subsystem.js";

/** A page that the server has rendered. */
export interface RenderedPage {
  /** Elements for the `<head>`. */
  readonly head: readonly string[];
  /** The markup inside the root element. */
  readonly markup: string;
}

export abstract class PageRenderer extends ShutdownLast {
  /** Renders the page object, which is JSON text. Resolves to `undefined` if it cannot render yet, and rejects if it fails. */
  abstract render(page: string): Promise<RenderedPage | undefined>;

  override shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Reads the result of a render function of the Inertia client: elements for the head, and a body with the page object and the root element.
 * The framework writes the page object and the root element itself, escaped and with the nonce, so only the markup inside the root is used.
 *
 * @throws TypeError for anything else
 */
export function parseRenderedPage(result: unknown): RenderedPage {
  if (typeof result !== "object" || result === null) throw notRendered(result);
  const { head = [], body } = result as { readonly head?: unknown; readonly body?: unknown };
  const isHead = Array.isArray(head) && head.every((element) => typeof element === "string");
  if (!isHead || typeof body !== "string") throw notRendered(result);
  return { head, markup: extractMarkup(body) };
}

/** A body without a root element is the markup itself. */
function extractMarkup(body: string): string {
  const script = body.startsWith("<script") ? body.indexOf("</script>") : -1;
  const rest = script < 0 ? body : body.slice(script + "</script>".length);
  const root = /^\s*<div(?=[^>]*\sdata-server-rendered="true")[^>]*>/.exec(rest);
  if (root === null) return rest;
  return rest.slice(root[0].length, rest.lastIndexOf("</div>"));
}

function notRendered(result: unknown): TypeError {
  return new TypeError(`the render function returned ${typeof result}: return { head: string[], body: string }`);
}
