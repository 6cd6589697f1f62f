/** A person in Chromium at the certified provider `oidc-provider`: signs in, comes back, signs out there. On Node 20 it warns, and works. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { provider } from "@stagecraft/framework/oauth";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "../../support/browser.js";
import { needs } from "../../support/machine.js";
import { providers, startProviders } from "./provider-application.js";

const CLIENT = { client_id: "shop", client_secret: "the secret of the shop" };

async function toListener(issuer: string, app: string): Promise<RequestListener> {
  const { Provider } = await import("oidc-provider");
  const certified = new Provider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [app + providers.callback.url("certified")],
        post_logout_redirect_uris: [app + providers.page.url()],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => Promise.resolve({ sub: id, email: `${id}@shop.example`, email_verified: true, name: id }),
    }),
  });
  const respond = certified.callback();
  return (request, response) => void respond(request, response);
}

async function signInAt(page: Page): Promise<unknown> {
  await page.fill("input[name=login]", "ada");
  await page.fill("input[name=password]", "any");
  await page.click("button[type=submit]");
  await page.click("button[type=submit]");
  return JSON.parse((await page.textContent("body")) ?? "");
}

describe("the sign-in at oidc-provider in a browser", function () {
  this.timeout(120_000);
  let browser: Browser;

  before(needs("chromium"));
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());

  it("signs a person up, finds the person again, and ends with a sign-out at both", async () => {
    let listener: RequestListener | undefined;
    const server = createServer((request, response) => listener?.(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    // A server that listens on TCP has an address that is an object.
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { client_id: clientId, client_secret: clientSecret } = CLIENT;
    const certified = provider({ name: "certified", issuer, clientId, clientSecret, signOut: true });
    await using app = await startProviders({ oauth: { providers: [certified] } });
    const url = app.url.replace("127.0.0.1", "localhost");
    listener = await toListener(issuer, url);
    const page = await browser.newPage();

    await page.goto(url + providers.start.url("certified"));
    const first = await signInAt(page);
    await page.goto(url + providers.start.url("certified"));
    const again = JSON.parse((await page.textContent("body")) ?? "") as unknown;
    const signedOut = await page.evaluate(
      async (path) => ((await (await fetch(path, { method: "POST" })).json()) as { url: string }).url,
      providers.signOut.url(),
    );
    await page.goto(signedOut);
    await page.click("button[value=yes]");
    await page.waitForURL(url + providers.page.url());

    expect(first).to.include({ kind: "signed-in", userId: "user-1", isNew: true });
    expect(again).to.include({ kind: "signed-in", userId: "user-1", isNew: false });
    await page.context().close();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
});
