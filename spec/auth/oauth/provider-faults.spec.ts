/** What a developer reads of a provider that is not set up, or not reached: the cure at the start, and the reason in the log. */
import { StartupError } from "@stagecraft/framework";
import { SessionConfig } from "@stagecraft/framework/session";
import { expect } from "chai";
import { rejectionOf } from "../../support/rejection-of.js";
import { KEY } from "../account-application.js";
import { LiarProvider } from "./liar-provider.js";
import { providers, startProviders } from "./provider-application.js";

describe("sign-in at a provider that is not set up", () => {
  it("refuses to start with a cookie of the session that does not come back from another site", async () => {
    for (const session of [new SessionConfig(KEY), SessionConfig.dev(KEY)]) {
      const error = await rejectionOf(startProviders({ session }));

      expect(error).to.be.instanceOf(StartupError);
      expect(String(error)).to.match(/E_OAUTH_SESSION .*SameSite=Strict[^]*SessionConfig\.pages\(key\)/);
    }
  });

  it("logs the provider and the reason where its configuration cannot be used", async () => {
    await using liar = await LiarProvider.start();
    liar.lies.discovery = { issuer: "https://other.example" };
    await using app = await startProviders({ oauth: { providers: [liar.provider()] } });

    const response = await app.get(providers.start.url("liar"));

    expect(response.status).to.equal(503);
    expect(await response.text()).not.to.include("discovery");
    const [line] = app.logs.lines().filter((each) => each.includes("E_OAUTH_UNAVAILABLE"));
    expect(line).to.match(/caused by Error: liar: discovery: another issuer/);
  });
});
