/** The endpoints of the links: paths, typed URLs, and what each takes and gives. A front end may import them. */
import { apiToken, maybeSignedIn, signedIn } from "@stagecraft/framework/auth/guards";
import { content, Delete, Get, Post, routes } from "@stagecraft/framework/routes";
import { z } from "zod";
import { formContent, redirected } from "./form-content.js";
import { ListQuery } from "./link-list.js";
import { NewLink, Slug } from "./new-link.js";

const Link = z
  .object({
    slug: Slug,
    target: z.string().meta({ description: "An absolute http or https URL.", examples: ["https://example.com/tea"] }),
    createdAt: z.string().meta({ format: "date-time" }),
    visits: z.int().min(0),
    owner: z.string().optional().meta({ description: "The id of the person who made it." }),
  })
  .meta({ id: "Link" });

const Ranking = z
  .object({ links: z.array(Link.pick({ slug: true, target: true, visits: true })).readonly() })
  .meta({ id: "Ranking" });

/** The problem of a slug that exists. */
const Taken = z
  .object({ type: z.string(), title: z.string(), status: z.int(), detail: z.string() })
  .meta({ id: "Taken", description: "The problem of a slug that exists." });

/** The response to a form that asks whether its fields are right before it is sent; they are with 204. */
const WrongFields = z
  .object({ message: z.string(), errors: z.record(z.string(), z.array(z.string())) })
  .meta({ id: "WrongFields", description: "The messages at the fields of a form that is being filled in." });

const params = { slug: Slug };

/** The JSON API for everybody. Its clients are programs, which send a bearer token, any text. */
export const links = routes("links", "/api/links", {
  index: Get("/", { bearer: true, responses: { 200: z.object({ links: z.array(Link).readonly() }) } }),
  store: Post("/", { bearer: true, body: NewLink, responses: { 201: Link, 409: Taken } }),
  show: Get("/{slug}", { bearer: true, params, responses: { 200: Link } }),
});

/** The links of a person, for programs with a token of that person. */
export const own = routes("own", "/api/own-links", {
  index: Get("/", {
    bearer: true,
    guards: [apiToken("links:read")],
    responses: { 200: z.object({ links: z.array(Link).readonly() }) },
  }),
  store: Post("/", {
    bearer: true,
    guards: [apiToken("links:write")],
    body: NewLink,
    responses: { 201: Link, 409: Taken },
  }),
  destroy: Delete("/{slug}", {
    bearer: true,
    guards: [apiToken("links:write")],
    params,
    responses: { 204: content.none() },
  }),
});

/** The pages for people. */
export const home = routes("home", "/", {
  index: Get("/", { guards: [maybeSignedIn], query: ListQuery, responses: { 200: content.page("links/index") } }),
  shorten: Post("/shorten", {
    guards: [signedIn],
    body: formContent(NewLink),
    responses: { ...redirected, 204: content.none(), 422: WrongFields },
  }),
  show: Get("/links/{slug}", { guards: [maybeSignedIn], params, responses: { 200: content.page("links/show") } }),
  remove: Post("/remove/{slug}", { guards: [signedIn], params, responses: redirected }),
  /** The parameter `lang` is the language. A page of its own, because the signed link of a mail takes no further parameter. */
  language: Get("/language", { query: z.object({ to: z.string() }), responses: { 302: content.redirect() } }),
  about: Get("/about", { responses: { 200: content.text() } }),
});

/** The ten most visited links: a page, and the same as JSON, once and as often as it changes. */
export const ranking = routes("ranking", "/", {
  page: Get("/most-visited", { responses: { 200: content.page("links/most-visited") } }),
  list: Get("/api/most-visited", { responses: { 200: Ranking } }),
  live: Get("/api/most-visited/live", { responses: { 200: content.events(Ranking) } }),
});

/** Not `image/*`: browsers show these everywhere. */
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const PICTURE_BYTES = 262_144;
const FORM_BYTES = 300_000;

/** The picture of a link. */
export const logos = routes("logos", "/links/{slug}/logo", {
  show: Get("/", { params, responses: { 200: content.bytes("image/*") } }),
  store: Post("/", {
    guards: [signedIn],
    params,
    body: content.multipart(z.object({}), { logo: { types: PICTURES, bytes: PICTURE_BYTES } }, { bytes: FORM_BYTES }),
    responses: redirected,
  }),
});

/** A short link, which redirects to its target. */
export const visit = Get("/to/{slug}", { name: "visit", params, responses: { 302: content.redirect() } });
