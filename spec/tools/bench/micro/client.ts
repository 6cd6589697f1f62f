/** What the typed client adds to a `fetch` that responds at once: the URL, the headers, the body and the reading of the response. */

import { client } from "../../../../lib/client/client.js";
import { Get, Post } from "../../../../lib/endpoints/endpoint.js";
import { routes } from "../../../../lib/endpoints/endpoint-table.js";
import type { Schema } from "../../../../lib/runtime/standard-schema.js";
import type { Comparison } from "./comparison.js";

const ANY: Schema = { "~standard": { version: 1, vendor: "none", validate: (value) => ({ value }) } };
const LINK = { id: 7, url: "https://example.com/" };
const TEXT = JSON.stringify(LINK);
const JSON_TYPE = { "content-type": "application/json" };
const ORIGIN = "http://localhost";

const links = routes("links", "/teams/{team}/links", {
  show: Get("/{id}", { query: ANY, responses: { 200: ANY } }),
  store: Post("/", { body: ANY, responses: { 201: ANY } }),
});

export function clientComparisons(): readonly Comparison[] {
  const show = client(links, { origin: ORIGIN, fetch: respondWith(200) }).show;
  const store = client(links, { origin: ORIGIN, fetch: respondWith(201) }).store;
  const params = { team: "red", id: 7 };
  return [
    {
      what: "a call with two captures and a query",
      contenders: [
        { name: "fetch", run: repeat(() => readShown(`${ORIGIN}/teams/red/links/7?page=2`)) },
        { name: "stagecraft client", run: repeat(() => show({ params, query: { page: 2 } })) },
      ],
    },
    {
      what: "a call with a body",
      contenders: [
        { name: "fetch", run: repeat(() => readStored(`${ORIGIN}/teams/red/links`)) },
        { name: "stagecraft client", run: repeat(() => store({ params, body: LINK })) },
      ],
    },
  ];
}

/** The stand-in reads what it gets, as `fetch` does. */
function respondWith(status: number): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const request = new Request(url, init);
    await request.text();
    return new Response(TEXT, { status, headers: JSON_TYPE });
  };
}

const [getShown, getStored] = [respondWith(200), respondWith(201)];

async function readShown(url: string): Promise<unknown> {
  return (await getShown(url, {})).json();
}

async function readStored(url: string): Promise<unknown> {
  return (await getStored(url, { method: "POST", body: JSON.stringify(LINK), headers: JSON_TYPE })).json();
}

function repeat(call: () => Promise<unknown>): (times: number) => Promise<void> {
  return async (times) => {
    for (let turn = 0; turn < times; turn += 1) await call();
  };
}
