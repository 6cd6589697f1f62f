/**
 * `npm run dev`: the development server, and for this sample a provider of test people beside it. `npm run dev -- notes` runs another sample,
 * and an issuer in the environment takes the place of the test provider.
 */
const sample = process.argv[2] ?? "links";

if (sample === "links" && process.env["OAUTH_ISSUER"] === undefined) {
  const { TestProvider } = await import("./test-provider.js");
  const provider = (await TestProvider.start()).unref();
  Object.assign(process.env, provider.variables);
  console.error(`the test provider, at which any name signs in, is ${provider.issuer}`);
}

await import("../dev/main.js");
