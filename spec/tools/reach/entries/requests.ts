/** Broken requests get the same responses as on Node. The two that Deno accepts are in the guide. */
import { strict as assert } from "node:assert";
import { once } from "node:events";
import { connect } from "node:net";
import { Application, Route, Routes } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";

const END = "Connection: close\r\n\r\n";
const POST = "POST / HTTP/1.1\r\nHost: a\r\n";
const CASES: readonly (readonly [string, number])[] = [
  [`GET / HTTP/1.1\r\nHost: a\r\n${END}`, 200],
  [`GET / HTTP/1.0\r\n\r\n`, 200],
  [`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n${END}milk`, 200],
  [`\0garbage\r\n\r\n`, 400],
  [`GET / HTTP/1.1\nHost: a\n\n`, 400],
  [`GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n`, 400],
  [`GET / HTTP/1.1\r\n${END}`, 400],
  [`GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n${END}`, 400],
  [`${POST}Content-Length: 1\r\nContent-Length: 2\r\n${END}ab`, 400],
  [`${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n${END}1\r\na\r\n0\r\n\r\n`, 400],
  [`${POST}Transfer-Encoding: gzip\r\n${END}`, 400],
  [`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`, 400],
  [`GET /%zz HTTP/1.1\r\nHost: a\r\n${END}`, 400],
  [`PUT / HTTP/1.1\r\nHost: a\r\n${END}`, 405],
  [`${POST}Content-Length: 99999\r\n${END}`, 413],
  [`GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n${END}`, 417],
  [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, 431],
];

/** The status of the response to the bytes. */
async function statusOf(url: string, request: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let response = "";
  socket.setEncoding("latin1").on("data", (text) => (response += text));
  socket.write(request);
  await once(socket, "close");
  return Number(response.split(" ", 2)[1]);
}

const routes = new Routes([Route.get("/", () => "notes"), Route.post("/", (ctx) => ctx.text())]);
const app = await testApp(
  Application.create()
    .routes(routes)
    .bodyLimit(16 * 1024),
);
for (const [request, status] of CASES) assert.equal(await statusOf(app.url, request), status, request);
await app.stop();
console.log("works");
