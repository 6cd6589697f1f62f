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

/** For the start, and for each step of a page: on a busy machine both take longer than the half minute of Playwright. */
const LIMIT_MS = 100_000;

/** @param more further command-line arguments */
export async function launchBrowser(...more: readonly string[]): Promise<Browser> {
  const executablePath = locate("chromium");
  if (executablePath === undefined) throw new Error("chromium is missing");
  // Imported here, because the import takes longer than most specs.
  const { chromium } = await import("playwright-core");
  const args = [...OFFLINE, ...more];
  return patient(await chromium.launch({ executablePath, args, headless: true, timeout: LIMIT_MS }));
}

/** Every page has a context, also that of `newPage`. */
function patient(browser: Browser): Browser {
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(LIMIT_MS);
    return context;
  };
  return browser;
}
