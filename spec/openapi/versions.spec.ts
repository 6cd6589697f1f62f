/** The OpenAPI document of tables below prefixes, of deprecated routes and of QUERY. */
import { Get, prefix, Query, RouteGroup, Routes, routes } from "@stagecraft/framework";
import { createOpenApi, type OpenApiDocument, type OpenApiOptions } from "@stagecraft/framework/openapi";
import { expect } from "chai";
import { z } from "zod";

const Link = z.object({ id: z.int() }).meta({ id: "Link" });
const NewLink = z.object({ id: z.int(), url: z.string() }).meta({ id: "NewLink" });
const params = { id: z.int() };

const first = prefix(
  "/v1",
  routes("links", "/links", {
    show: Get("/{id}", { params, responses: { 200: Link }, deprecated: "2026-11-01", sunset: "2027-06-30" }),
    ends: Get("/ends/now", { responses: { 200: Link }, sunset: "2027-06-30" }),
  }),
);
const second = prefix(
  "/v2",
  routes("links", "/links", {
    show: Get("/{id}", { params, responses: { 200: NewLink } }),
    find: Query("/find", { body: z.object({ word: z.string() }), responses: { 200: NewLink } }).orPost(),
  }),
);

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly deprecated?: boolean;
  readonly requestBody?: unknown;
}

/** The operations by path and method. */
function operationsOf(options: OpenApiOptions = {}): Readonly<Record<string, Operation>> {
  const link = { id: 7, url: "" };
  const all = new Routes([
    RouteGroup.of(first, { show: () => ({ id: 7 }), ends: () => ({ id: 7 }) }),
    RouteGroup.of(second, { show: () => link, find: () => link }),
  ]);
  const { paths }: OpenApiDocument = createOpenApi(all, options);
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [`${method} ${path}`, operation as Operation]),
    ),
  );
}

describe("the OpenAPI document of versions", () => {
  it("has an operation id for each endpoint of each version", () => {
    const ids = Object.entries(operationsOf()).map(([place, { operationId }]) => [place, operationId]);

    expect(ids).to.deep.equal([
      ["get /v1/links/ends/now", "v1.links.ends"],
      ["get /v1/links/{id}", "v1.links.show"],
      ["post /v2/links/find", "v2.links.find.post"],
      ["x-query /v2/links/find", "v2.links.find"],
      ["get /v2/links/{id}", "v2.links.show"],
    ]);
  });

  it("marks deprecated routes, and not those that only have a sunset", () => {
    const deprecated = Object.values(operationsOf()).filter((each) => each.deprecated === true);

    expect(deprecated.map(({ operationId }) => operationId)).to.deep.equal(["v1.links.show"]);
  });

  it("has QUERY as a method from version 3.2 on, and its POST in each version", () => {
    const { "query /v2/links/find": query, "post /v2/links/find": post } = operationsOf({ version: "3.2" });

    expect(query?.operationId).to.equal("v2.links.find");
    expect(query?.requestBody).to.be.an("object");
    expect(post?.requestBody).to.be.an("object");
  });

  it("marks a version of a table as deprecated, and the same table below another prefix not", () => {
    const links = routes("links", "/links", {
      show: Get("/{id}", { responses: { 200: Link } }),
      ends: Get("/ends", { responses: { 200: Link }, sunset: "2028-01-01" }),
    });
    const dates = { deprecated: "2026-11-01", sunset: new Date("2027-06-30") };
    const [old, current] = [prefix("/v1", links, dates), prefix("/v2", links)];
    const whole = routes("whole", "/v0", { show: Get("/", { responses: { 200: Link } }) }, dates);

    const { deprecated, sunset } = old.show;
    expect([deprecated, sunset]).to.deep.equal(["2026-11-01T00:00:00.000Z", "2027-06-30T00:00:00.000Z"]);
    expect(old.ends.sunset).to.equal("2028-01-01T00:00:00.000Z");
    expect([current.show.deprecated, current.show.sunset]).to.deep.equal([undefined, undefined]);
    expect(whole.show.deprecated).to.equal(deprecated);
    expect(prefix("/all", old).show.sunset).to.equal(sunset);
    expect(() => prefix("/v1", links, { deprecated: "soon" })).to.throw(/deprecated is soon/);
  });

  it("has the words of a QUERY at its POST, unless the POST has words", () => {
    const query = { "v2.links.find": { summary: "Finds links" } };
    const post = { "v2.links.find.post": { summary: "Finds links by POST" } };
    const place = "post /v2/links/find";

    expect(operationsOf({ texts: query })[place]?.summary).to.equal("Finds links");
    expect(operationsOf({ texts: { ...query, ...post } })[place]?.summary).to.equal("Finds links by POST");
  });

  it("has one version alone, with the texts of all versions", () => {
    const texts = { "v1.links.show": { summary: "A link" }, "v1.links": { description: "Links." } };
    const operations = operationsOf({ texts, include: ({ path }) => path.startsWith("/v2") });

    expect(Object.keys(operations)).to.have.lengthOf(3);
  });
});
