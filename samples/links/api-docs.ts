/**
 * The options of the API document, with its words by the names of the endpoints and of their tables. The document has the API of programs, and
 * the pages and forms of people as they are. The paths of operators are not in it, because some of them do not exist for anybody else.
 */
import { type ApiDocsOptions, profile } from "@stagecraft/framework";

/** The tables stand in this order. */
const TEXTS = {
  links: { description: "Links, for programs." },
  "links.index": { summary: "Lists links", description: "The newest 1000." },
  "links.store": { summary: "Makes a link", description: "A link without a slug gets a new one." },
  "links.show": { summary: "Shows a link", description: "With the number of its visits." },
  own: { description: "Links of a person, for programs with an API token of that person." },
  "own.index": { summary: "Lists own links", description: "The newest 1000." },
  "own.store": { summary: "Makes an own link", description: "The link belongs to the person of the token." },
  "own.destroy": { summary: "Removes an own link", description: "Links of others do not exist for the token." },
  ranking: { description: "The most visited links." },
  "ranking.list": { summary: "Lists the ranking", description: "Ten links, counted at most a minute ago." },
  "ranking.live": {
    summary: "Follows the ranking",
    description: "An event with the ranking, and one more after each change. The stream ends after five minutes.",
  },
  "ranking.page": { summary: "Page of the ranking", description: "It follows the ranking while it is open." },
  to: { description: "Short links themselves." },
  visit: { summary: "Follows a short link", description: "Redirects to its target, and counts the visit." },
  home: { description: "Pages and forms of links." },
  "home.index": { summary: "Page of all links", description: "Twenty at a time, with a search." },
  "home.show": { summary: "Page of a link", description: "With its visits by day." },
  "home.shorten": {
    summary: "Form for a new link",
    description: "Leads back to the page. With `Precognition: true` it checks the fields and makes no link.",
  },
  "home.remove": { summary: "Form that removes a link", description: "People remove their own links." },
  "home.language": {
    summary: "Chooses a language",
    description: "The session has that of `lang`, and the page `to` follows.",
  },
  "home.about": { summary: "About this service", description: "One line of text." },
  logos: { description: "Pictures of links." },
  "logos.show": { summary: "Shows a picture", description: "In the format in which it was sent." },
  "logos.store": { summary: "Form for a picture", description: "People give pictures to their own links." },
  account: { description: "Signing up, in and out." },
  "account.signUp": { summary: "Page of the sign-up", description: "With its form." },
  "account.join": { summary: "Form of the sign-up", description: "Sends a mail, for every address with one response." },
  "account.confirmPage": { summary: "Page of a confirmation", description: "The mail of a sign-up leads to it." },
  "account.confirm": { summary: "Form of a confirmation", description: "Creates the account, and signs in." },
  "account.signIn": { summary: "Page of the sign-in", description: "With its form, and for passkeys." },
  "account.enter": {
    summary: "Form of the sign-in",
    description: "Leads back to the page where the entries are wrong.",
  },
  "account.enterByPasskey": { summary: "Sign-in by a passkey", description: "Takes the response of the device." },
  "account.secondStep": { summary: "Page of the second step", description: "For a sign-in that waits for it." },
  "account.giveCode": { summary: "Form of the second step", description: "A code of the app, or a recovery code." },
  "account.givePasskey": { summary: "Second step by a passkey", description: "Takes the response of the device." },
  "account.forgot": { summary: "Page of a lost password", description: "With its form." },
  "account.sendReset": {
    summary: "Form of a lost password",
    description: "Sends a mail, for every address with one response.",
  },
  "account.resetPage": { summary: "Page of a new password", description: "The mail leads to it." },
  "account.reset": { summary: "Form of a new password", description: "Ends all sessions of the person." },
  "account.again": { summary: "Page that asks for the password again", description: "With its form." },
  "account.confirmAgain": { summary: "Form with the password again", description: "It counts for 15 minutes." },
  "account.leave": { summary: "Form of the sign-out", description: "Ends the session, and forgets the device." },
  profile: { description: "Accounts of people who have signed in." },
  "profile.devices": { summary: "Page of the devices", description: "Where the person is signed in." },
  "profile.endDevice": { summary: "Form that signs out a device", description: "Also the device of the request." },
  "profile.endOthers": { summary: "Form that signs out all others", description: "The device of the request goes on." },
  "profile.security": { summary: "Page of second step and passkeys", description: "After the password alone." },
  "profile.totp": { summary: "Page of an authenticator app", description: "It shows no secret." },
  "profile.addTotp": {
    summary: "Form of an authenticator app",
    description: "The page has the secret, then the codes, once.",
  },
  "profile.removeTotp": { summary: "Form that removes the app", description: "And the recovery codes." },
  "profile.codes": { summary: "Page of the recovery codes", description: "With the number of those that are left." },
  "profile.renewCodes": { summary: "Form for new recovery codes", description: "The page has them, once." },
  "profile.addPasskey": { summary: "Adds a passkey", description: "Takes the response of the device." },
  "profile.removePasskey": { summary: "Form that removes a passkey", description: "Other sessions end." },
  "profile.tokens": { summary: "Page of the API tokens", description: "Without their texts." },
  "profile.createToken": { summary: "Form for a new API token", description: "The page has its text, once." },
  "profile.revokeToken": { summary: "Form that revokes a token", description: "It ends within five seconds." },
};

const DESCRIPTION = `Short links, and how often they are followed.

Programs call the paths below \`/api\` with a bearer token. Any text is one, except below \`/api/own-links\`, which asks for an API token of a person. People have the other paths:
pages are HTML, and forms need the session of a browser and the value of its cookie \`XSRF-TOKEN\` in the header \`X-XSRF-TOKEN\`.`;

export const API_DOCS: ApiDocsOptions = {
  info: {
    title: "Links",
    version: "1.0.0",
    description: DESCRIPTION,
    contact: { name: "The operator of this service" },
    license: { name: "MIT", identifier: "MIT" },
  },
  texts: TEXTS,
  securitySchemes: {
    bearer: {
      type: "http",
      scheme: "bearer",
      description: "An API token of a person, or for the other paths any text.",
    },
    session: {
      type: "apiKey",
      in: "cookie",
      name: profile === "release" ? "__Host-id" : "framework-id",
      description: "The session of a person who has signed in.",
    },
  },
  include: ({ name = "" }) => Object.hasOwn(TEXTS, name),
};

/** Some endpoints exist only with a provider to sign in at. */
const TEXTS_WITH_PROVIDER = {
  ...TEXTS,
  providers: { description: "Signing in at a provider, where the operator has set one." },
  "providers.start": { summary: "Sign-in at a provider", description: "Redirects to the provider." },
  "providers.callback": { summary: "Way back from a provider", description: "Leads to a page with a message." },
  "providers.linked": { summary: "Page of the linked accounts", description: "Those of the person at the provider." },
  "providers.link": { summary: "Links an account", description: "Redirects to the provider." },
  "providers.unlink": { summary: "Form that unlinks an account", description: "Not the only way to sign in." },
};

export const API_DOCS_WITH_PROVIDER: ApiDocsOptions = {
  ...API_DOCS,
  texts: TEXTS_WITH_PROVIDER,
  include: ({ name = "" }) => Object.hasOwn(TEXTS_WITH_PROVIDER, name),
};
