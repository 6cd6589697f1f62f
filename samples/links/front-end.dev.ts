/** The front end for `samples/dev`: Vite's settings, and the module that renders pages on the server. */
import type { FrontEnd } from "../dev/vite-server.js";
import { viteConfig } from "./build-front-end.js";
import { SERVER_ENTRY, STYLESHEET } from "./front-end.js";

/** @param root the folder above `pages` */
export async function frontEnd(root?: string): Promise<FrontEnd> {
  return { config: await viteConfig(root), serverEntry: SERVER_ENTRY, stylesheet: STYLESHEET };
}
