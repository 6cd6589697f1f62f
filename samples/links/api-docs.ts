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
  "links.destroy": { summary: "Removes a link", description: "Needs the key of the operator as the token." },
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
  "home.shorten": { summary: "Form for a new link", description: "Leads back to the page, also with wrong fields." },
  "home.remove": { summary: "Form that removes a link", description: "People remove their own links." },
  "home.about": { summary: "About this service", description: "One line of text." },
  logos: { description: "Pictures of links." },
  "logos.show": { summary: "Shows a picture", description: "In the format in which it was sent." },
  "logos.store": { summary: "Form for a picture", description: "People give pictures to their own links." },
  account: { description: "Accounts of people." },
  "account.signUp": { summary: "Page of the sign-up", description: "With its form." },
  "account.join": {
    summary: "Form of the sign-up",
    description: "Signs in too. With `Precognition: true` it checks the fields and makes no account.",
  },
  "account.signIn": { summary: "Page of the sign-in", description: "With its form." },
  "account.enter": {
    summary: "Form of the sign-in",
    description: "Leads back to the page where the entries are wrong.",
  },
  "account.leave": { summary: "Form of the sign-out", description: "Ends the session." },
};

const DESCRIPTION = `Short links, and how often they are followed.

Programs call the paths below \`/api\` with a bearer token, which any text is unless an operation says otherwise. People have the other paths:
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
    bearer: { type: "http", scheme: "bearer", description: "The token of a program, or the key of the operator." },
    session: {
      type: "apiKey",
      in: "cookie",
      name: profile === "release" ? "__Host-id" : "framework-id",
      description: "The session of a person who has signed in.",
    },
  },
  include: ({ name = "" }) => Object.hasOwn(TEXTS, name),
};
