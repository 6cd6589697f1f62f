/**
 * Debian's Chromium under Playwright, its headless shell where that is installed, with a new profile: for tests of the behaviour of
 * browsers. Launch one browser for a suite and open a page for each test. Call `before(needs("chromium"))` first.
 */
import type { Browser } from "playwright-core";
import { locate } from "./machine.js";

/** No connections to the outside: no updates, no synchronisation, no other protocol. */
const OFFLINE = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Fewer processes for pages: they cost most of the time of a browser.
  "--renderer-process-limit=1",
];

/** @param more further command-line arguments */
export async function launchBrowser(...more: readonly string[]): Promise<Browser> {
  const executablePath = locate("chromium");
  if (executablePath === undefined) throw new Error("chromium is missing");
  // Imported here, because the import takes longer than most specs.
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: [...OFFLINE, ...more], headless: true });
}
