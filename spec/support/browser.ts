/**
 * Debian's Chromium under Playwright, with a fresh profile: the judge of whatever only a browser decides. One a suite; a page each
 * test. `before(needs("chromium"))` has to come first.
 */
import type { Browser } from "playwright-core";
import { locate } from "./machine.js";

/** Nothing of the world outside the test: no updates, no synchronisation, no other protocol. */
const ALONE = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @param more arguments, for what is to be different from a user's browser */
export async function launchBrowser(...more: readonly string[]): Promise<Browser> {
  const executablePath = locate("chromium");
  if (executablePath === undefined) throw new Error("chromium is missing");
  // Loading it takes longer than most specs, so only who needs it does.
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, args: [...ALONE, ...more], headless: true });
}
