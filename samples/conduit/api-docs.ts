/** The options of the API document, with its words by the names of the endpoints and of their tables. */
import type { ApiDocsOptions } from "@stagecraft/framework";
import { Errors } from "./errors.js";

const TEXTS = {
  articles: { description: "Articles and their favorites." },
  "articles.index": { summary: "Lists articles", description: "The newest first, by tag, author or favorite." },
  "articles.feed": { summary: "Lists the feed", description: "The articles of the authors whom the user follows." },
  "articles.create": { summary: "Writes an article", description: "Its title gives it a slug." },
  "articles.show": { summary: "Shows an article", description: "With its body." },
  "articles.change": { summary: "Changes an article", description: "Only its author may." },
  "articles.remove": {
    summary: "Removes an article",
    description: "With its comments and favorites. Only its author may.",
  },
  "articles.favor": { summary: "Favors an article", description: "A second time changes nothing." },
  "articles.disfavor": { summary: "Takes a favorite away", description: "A second time changes nothing." },
  "articles.tags": { summary: "Lists tags", description: "The tags of all articles." },
  comments: { description: "Comments on articles." },
  "comments.index": { summary: "Lists comments", description: "The newest 500 of an article." },
  "comments.create": { summary: "Writes a comment", description: "Of the user who sends the request." },
  "comments.remove": { summary: "Removes a comment", description: "Only its author may." },
  profiles: { description: "Users as others see them." },
  "profiles.show": { summary: "Shows a profile", description: "And whether the user follows it." },
  "profiles.follow": { summary: "Follows a user", description: "A second time changes nothing." },
  "profiles.unfollow": { summary: "Unfollows a user", description: "A second time changes nothing." },
  users: { description: "Accounts." },
  "users.register": { summary: "Signs up", description: "The response has the token of the user." },
  "users.login": { summary: "Signs in", description: "The response has the token of the user." },
  "users.current": { summary: "Shows the user", description: "Whose token the request has." },
  "users.change": { summary: "Changes the user", description: "Members that are left out stay as they are." },
};

export const API_DOCS: ApiDocsOptions = {
  info: {
    title: "Conduit",
    version: "1.0.0",
    description: "The API of RealWorld: articles, comments, and the users who write them.",
    contact: { name: "RealWorld", url: "https://github.com/realworld-apps/realworld" },
    license: { name: "MIT", identifier: "MIT" },
  },
  texts: TEXTS,
  securitySchemes: { token: { type: "http", scheme: "Token" } },
  problem: Errors,
};
