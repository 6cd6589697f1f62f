/** One request, and what its client sees of the response. What differs from one run to the next is masked. */
import { request } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

/** They depend on the time, or on the server rather than on the program. */
const UNCOMPARED = ["date", "connection", "keep-alive"];
const MASKED = ["x-response-time", "x-ratelimit-reset"];
const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, deflate: inflateSync };

/** @returns the response as `comparable` gives it, and the lines of its cookies. */
export async function ask(url, { method = "GET", headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    // As it is: a URL would resolve dots in the path.
    const { hostname, port } = new URL(url);
    const path = url.slice(url.indexOf("/", "http://".length));
    const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve(received(response, Buffer.concat(chunks))));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function received({ statusCode: status, headers }, bytes) {
  const decode = bytes.length === 0 ? undefined : DECODERS[headers["content-encoding"]];
  const body = (decode?.(bytes) ?? bytes).toString();
  return { response: comparable({ status, headers, body }), cookies: headers["set-cookie"] ?? [] };
}

/** The status, the headers by their lower-case names, and the body. Also for the response to a client that is not `ask`. */
export function comparable({ status, headers, body }) {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const compared = entries
    .filter(([name]) => !UNCOMPARED.includes(name))
    .map(([name, value]) => [name, masked(name, value)]);
  return { status, headers: Object.fromEntries(compared.toSorted(([a], [b]) => (a < b ? -1 : 1))), body };
}

function masked(name, value) {
  if (MASKED.includes(name)) return "…";
  if (name === "set-cookie")
    return [value].flat().map((cookie) => cookie.replace(/=[^;]*/, "=…").replace(/expires=[^;]*/, "expires=…"));
  return [value].flat().join(", ");
}
