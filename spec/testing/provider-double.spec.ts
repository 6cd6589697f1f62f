/** What the double of a provider says of a test that cannot sign in. */
import { ProviderDouble } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { providers, startProviders } from "../auth/oauth/provider-application.js";
import { rejectionOf } from "../support/rejection-of.js";

const ADA = { subject: "7", email: "ada@shop.example" };

describe("the double of a provider", () => {
  it("names the cure for a client without cookies, and shows the response that leads to no provider", async () => {
    const double = new ProviderDouble();
    await using app = await startProviders({ double });
    const failureOf = async (client: typeof app | ReturnType<typeof app.withCookies>, path: string) =>
      String(await rejectionOf(double.signIn(client, path, ADA)));

    expect(await failureOf(app, providers.start.url("acme"))).to.include("give app.withCookies()");
    expect(await failureOf(app.withCookies(), providers.link.url("acme"))).to.match(/status 401 .*Sign in first/);
    double.isDown = true;
    expect(await failureOf(app.withCookies(), providers.start.url("acme"))).to.match(/status 503 .*does not respond/);
  });
});
