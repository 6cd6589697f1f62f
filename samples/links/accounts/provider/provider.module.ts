/** The sign-in at the provider of the environment. Only where there is one the sample loads this file. */
import { Module } from "@stagecraft/framework";
import { oauth, provider } from "@stagecraft/framework/oauth";
import { LinksModule } from "../../links.module.js";
import type { ProviderSettings } from "../../settings.js";
import type { ProviderPart } from "./provider-part.js";
import { ProviderController } from "./provider.controller.js";
import { providers } from "./provider.routes.js";

@Module({ imports: [LinksModule], controllers: [ProviderController] })
class LinksWithProviderModule {}

/** @throws FrameworkError for an issuer that is neither `https://` nor on this machine */
export function providerPart({ name, issuer, clientId, clientSecret }: ProviderSettings): ProviderPart {
  const client = { issuer, clientId, ...(clientSecret !== undefined && { clientSecret }) };
  // The registration there has this name in the URL of the callback.
  const company = provider({ name: "company", ...client });
  return {
    root: LinksWithProviderModule,
    bindings: oauth({ providers: [company], callback: providers.callback }),
    name,
  };
}
