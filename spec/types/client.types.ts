/** Compile-only: what the calls of a client take and give. */
import { z } from "zod";
import { client } from "../../lib/client/client.js";
import type { RoutesManifest } from "../../lib/client/manifest.js";
import { content } from "../../lib/endpoints/content.js";
import { Delete, Get, Post } from "../../lib/endpoints/endpoint.js";
import { routes } from "../../lib/endpoints/endpoint-table.js";

const Link = z.object({ id: z.int(), at: z.date(), note: z.string().optional(), size: z.number().default(1) });

const taken = { 409: z.object({ taken: z.string() }) };

const links = routes("links", "/links", {
  home: Get("/"),
  find: Get("/find", { query: z.object({ page: z.int().optional() }), responses: { 200: z.array(Link) } }),
  search: Get("/search", { query: z.object({ text: z.string() }) }),
  store: Post("/{team}", {
    params: { team: z.int() },
    body: z.object({ url: z.url(), open: z.boolean().default(true) }),
    responses: { 200: Link, 201: z.object({ made: z.boolean() }), ...taken },
  }),
  gone: Delete("/{id}", { responses: { 204: content.none() } }),
  file: Get("/file", { responses: { 200: content.file() } }),
  live: Get("/live", { responses: { 200: content.events(Link) } }),
});

const api = client(links, { origin: "" });

export async function takes(): Promise<void> {
  const home: unknown = await api.home();
  await api.find();
  await api.find({});
  await api.find({ query: { page: 1 }, headers: { "x-any": 1 } });
  // @ts-expect-error a page is a number
  await api.find({ query: { page: "1" } });
  // @ts-expect-error the query has a member that may not be left out
  await api.search();
  // @ts-expect-error the endpoint has a capture
  await api.gone();
  // @ts-expect-error a capture with a schema has its type
  await api.store({ params: { team: "red" }, body: { url: "" } });
  // @ts-expect-error the endpoint takes no body
  await api.home({ body: home });
  await api.store({ params: { team: 1 }, body: { url: "" } });
}

export async function gives(): Promise<void> {
  const found = (await api.find())[0];
  const text: string | undefined = found?.at;
  const note: string | undefined = found?.note;
  // @ts-expect-error JSON leaves a text of a date
  const date: Date | undefined = found?.at;
  const none: undefined = await api.gone({ params: { id: 1 } });
  for await (const { data, id } of await api.live()) {
    const at: string = data.at;
    void [at, id];
  }
  const file = await api.file.result();
  if (file.status === 206) void file.body.size;
  void [text, note, date, none];
}

export async function results(): Promise<number | string> {
  const result = await api.store.result({ params: { team: 1 }, body: { url: "" } });
  switch (result.status) {
    case 200:
      return result.body.id;
    case 201:
      return String(result.body.made);
    case 409:
      return result.body.taken;
    case "unexpected":
      return result.response.status;
    default:
      return result.body.title;
  }
}

export async function fromManifest(manifest: RoutesManifest): Promise<string | undefined> {
  const found = await client<typeof links>(manifest, { origin: "" }).find();
  return found[0]?.at;
}
