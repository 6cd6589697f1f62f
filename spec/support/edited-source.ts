/**
 * Edits of a source that a development server watches, and the moment from which a page receives them.
 *
 * @example
 * const reload = hotReload(page);
 * await page.goto(url);
 * await reload;
 * await editInPlace(file, 'title="Sign in"', 'title="Come in"');
 */
import { open } from "node:fs/promises";
import type { Page } from "playwright-core";

/** Resolves when the page is connected to the hot reload of Vite, which does not repeat an earlier change. Call it before `goto`. */
export function hotReload(page: Page): Promise<void> {
  return new Promise((resolve) => {
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        if (String(payload).includes('"type":"connected"')) resolve();
      }),
    );
  });
}

/** Writes text of the same length in one step, so that no server reads a file that is half written. */
export async function editInPlace(path: string, before: string, after: string): Promise<void> {
  await using file = await open(path, "r+");
  const source = await file.readFile();
  const at = source.indexOf(before);
  if (at < 0) throw new Error(`${path} does not contain ${before}`);
  if (Buffer.byteLength(before) !== Buffer.byteLength(after)) throw new Error(`${after} is not as long as ${before}`);
  await file.write(after, at);
}
