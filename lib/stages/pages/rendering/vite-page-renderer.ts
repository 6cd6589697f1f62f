/**
 * Renders pages by Vite's development server, which has the newest sources: a POST of the page object to `/__inertia_ssr`, which the Vite
 * plugin of Inertia handles. `Pages` uses it in debug builds if `FRAMEWORK_VITE_IPC` is set and a renderer is given.
 */
import type { IncomingMessage } from "node:http";
import { nodeHttp } from "../../../runtime/node-http.js";
import { PageRenderer, parseRenderedPage, type RenderedPage } from "./page-renderer.js";

const TIMEOUT_MS = 10_000;
/** In bytes. A page of a development server is never longer. */
const MAX_RESPONSE_BYTES = 16_777_216;

export class VitePageRenderer extends PageRenderer {
  /** @param endpoint the socket or pipe of Vite */
  constructor(private readonly endpoint: string) {
    super();
  }

  /** `undefined` while Vite starts. */
  override async render(page: string): Promise<RenderedPage | undefined> {
    const { status, text } = await this.post(page);
    if (status !== 200) throw new Error(`Vite responded with ${status}: ${text.slice(0, 500)}`);
    const result: unknown = JSON.parse(text);
    return result === null ? undefined : parseRenderedPage(result);
  }

  private post(page: string): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const outgoing = nodeHttp.request({
        socketPath: this.endpoint,
        path: "/__inertia_ssr",
        method: "POST",
        headers: { "Content-Type": "application/json", Host: "localhost", "Content-Length": Buffer.byteLength(page) },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      outgoing.on("error", reject);
      outgoing.on("response", (response) => void readResponse(response).then(resolve, reject));
      outgoing.end(page);
    });
  }
}

async function readResponse(response: IncomingMessage): Promise<{ readonly status: number; readonly text: string }> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Without an encoding the chunks are bytes.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw new Error("the rendered page is too long");
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}
