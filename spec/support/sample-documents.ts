/** The API documents of the samples with all routes that have a name, also those that are not public. */
import { createOpenApi, type OpenApiDocument } from "@stagecraft/framework/openapi";
import { API_DOCS as CONDUIT_DOCS } from "../../samples/conduit/api-docs.js";
import { conduitApplication } from "../../samples/conduit/application.js";
import { fileDatabase } from "../../samples/conduit/database.js";
import { settingsFrom as settingsFromConduit } from "../../samples/conduit/settings.js";
import { providerPart } from "../../samples/links/accounts/provider/provider.module.js";
import { API_DOCS as LINKS_DOCS, API_DOCS_WITH_PROVIDER } from "../../samples/links/api-docs.js";
import { linksApplication } from "../../samples/links/application.js";
import { settingsFrom as settingsFromLinks } from "../../samples/links/settings.js";

const include = ({ name }: { readonly name: string | undefined }): boolean => name !== undefined;

export function describeLinks(): OpenApiDocument {
  return createOpenApi(linksApplication(settingsFromLinks({})).build(), { ...LINKS_DOCS, include });
}

/** With the sign-in at a provider, whose endpoints exist only where there is one. */
export function describeLinksWithProvider(): OpenApiDocument {
  const settings = settingsFromLinks({ OAUTH_ISSUER: "https://provider.example", OAUTH_CLIENT_ID: "links" });
  const provider = settings.provider && providerPart(settings.provider);
  return createOpenApi(linksApplication(settings, { provider }).build(), { ...API_DOCS_WITH_PROVIDER, include });
}

export function describeConduit(): OpenApiDocument {
  const settings = settingsFromConduit({ TOKEN_KEY: "5e".repeat(64) });
  return createOpenApi(conduitApplication(settings, fileDatabase(":memory:")).build(), { ...CONDUIT_DOCS, include });
}
