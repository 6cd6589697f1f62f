/** `samples/links` with the sign-in at the test provider of `npm run dev`, and people with a browser there. */
import { type Binding, Clock, provide } from "@stagecraft/framework";
import { WorkerPageRenderer } from "@stagecraft/framework/pages";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { providerPart } from "../../samples/links/accounts/provider/provider.module.js";
import { linksApplication } from "../../samples/links/application.js";
import { linkPages, SERVER_BUNDLE } from "../../samples/links/front-end.js";
import { settingsFrom } from "../../samples/links/settings.js";
import type { TestProvider } from "../../samples/links/test-provider.js";
import { cheapPasswords } from "./cheap-passwords.js";
import { addPerson } from "./sample-people.js";
import type { SampleVisitor } from "./sample-visitor.js";

/**
 * The thread that renders has a clock that stands still: a busy machine takes longer for a page.
 *
 * @param clock of the application, if time has to pass
 */
export function startLinksWith(provider: TestProvider, clock?: FakeClock): Promise<TestApp> {
  const settings = settingsFrom({ ...provider.variables, REQUESTS_PER_SECOND: "1000" });
  const renderer = new WorkerPageRenderer({ bundle: SERVER_BUNDLE }, new FakeClock());
  const application = linksApplication(settings, {
    pages: linkPages({ mustRender: true, renderer }),
    provider: settings.provider && providerPart(settings.provider),
  });
  const bindings: Binding[] = clock === undefined ? [] : [provide(Clock).useValue(clock)];
  return testApp(application, cheapPasswords(), ...bindings);
}

/** Fills in the form of the provider, which is open or on its way. */
export async function signInAtProvider({ page }: SampleVisitor, name: string, isVerified = true): Promise<void> {
  await waitForProvider(page);
  await page.fill("input[name=name]", name);
  await page.setChecked("input[name=verified]", isVerified);
  await page.click("button.main");
}

export async function cancelAtProvider({ page }: SampleVisitor): Promise<void> {
  await waitForProvider(page);
  await page.click("text=Cancel");
}

export async function waitForProvider(page: SampleVisitor["page"]): Promise<void> {
  await page.waitForSelector("h1:text-is('Sign in at the test provider')");
}

/** Goes to the provider from a page of the application. */
export async function goToProvider({ page }: SampleVisitor): Promise<void> {
  await page.click("a:has-text('Test Provider')");
  await waitForProvider(page);
}

/**
 * Signs in at the provider as its form does, without a browser.
 *
 * @param url the redirect of the application to the provider
 * @returns the path of the callback, which is not requested
 */
export async function approve(url: string, name: string): Promise<string> {
  const cookies = new Map<string, string>();
  const go = async (target: string, body?: URLSearchParams) => {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const method = body === undefined ? "GET" : "POST";
    const response = await fetch(target, { method, body: body ?? null, headers: { cookie }, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, key = "", value = ""] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
      cookies.set(key, value);
    }
    return new URL(response.headers.get("location") ?? target, target).href;
  };
  const form = await go(url);
  const callback = new URL(await go(await go(form, new URLSearchParams({ name, verified: "on" }))));
  return callback.pathname + callback.search;
}

/** A person who has an account with a password signs in by it. */
export async function enterByPassword(app: TestApp, visitor: SampleVisitor, name: string): Promise<void> {
  await addPerson(app, `${name}@example.org`);
  await visitor.open("/account/sign-in");
  await visitor.signIn(name);
  await visitor.says("You have signed in.");
}

/** A person who has no account yet, or one that is linked, signs in at the provider. */
export async function enterByProvider(visitor: SampleVisitor, name: string, says: string): Promise<void> {
  await visitor.open("/account/sign-in");
  await goToProvider(visitor);
  await signInAtProvider(visitor, name);
  await visitor.says(says);
}

export async function signOut(visitor: SampleVisitor): Promise<void> {
  await visitor.page.click("text=Sign out >> nth=0");
  await visitor.says("You have signed out.");
}

export const WELCOME = "Welcome. You have an account now.";
export const SIGNED_IN = "You have signed in.";
