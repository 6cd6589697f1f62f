/**
 * idle.spec.ts runs this file in a process of its own. It starts an application with every stage on, or a bare server, serves a few
 * requests, and then prints the remaining timers and the number of callbacks while idle.
 */
import { createHook } from "node:async_hooks";
import { once } from "node:events";
import http from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Idleness {
  readonly responses: readonly number[];
  /** Active timers, with and without `unref`. */
  readonly timers: readonly { readonly afterMs: number; readonly everyMs: number | null }[];
  readonly active: readonly string[];
  /** Callbacks of any kind. */
  readonly wakes: number;
}

/** The needed members of Node's timers; they are not public. */
interface NodeTimer {
  readonly _idleTimeout: number;
  readonly _repeat: number | null;
  readonly _destroyed: boolean;
}

const PATIENCE_MS = 6000;
const LOOK_MS = 50;
const WINDOW_MS = 300;

const timers = new Map<number, NodeTimer>();
let wakes = 0;
createHook({
  init(id, type, _trigger, resource) {
    // The type of the resource guarantees these members.
    if (type === "Timeout") timers.set(id, resource as NodeTimer);
  },
  before: () => void wakes++,
  destroy: (id) => void timers.delete(id),
}).enable();

async function serveApplication(): Promise<number> {
  // Loaded here, so that the effects of the import are measured, and only in this process.
  const { runApplication } = await import("./idle-application.js");
  return runApplication();
}

async function serveBarely(): Promise<number> {
  const server = http.createServer((_incoming, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A listening TCP server has an address of this kind.
  return (server.address() as AddressInfo).port;
}

async function ask(port: number, method: string, path: string, body = ""): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  const head = `Host: shop\r\nContent-Type: text/plain\r\nAccept-Encoding: br\r\nAuthorization: Bearer x\r\nContent-Length: ${body.length}\r\nConnection: close`;
  socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n\r\n${body}`);
  return Number((await text(socket)).slice(9, 12));
}

function ringing(): readonly NodeTimer[] {
  return [...timers.values()].filter(({ _destroyed }) => !_destroyed);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Waits until the one-shot timers of the requests have fired. */
async function calm(): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  do await pause(LOOK_MS);
  while (ringing().some(({ _repeat }) => _repeat === null) && performance.now() < deadline);
}

const isBare = process.argv[2] === "bare";
const port = await (isBare ? serveBarely() : serveApplication());
while (!(await ask(port, "GET", "/health/ready").then((status) => status === 200, () => false))); // prettier-ignore
const responses = [
  await ask(port, "GET", "/long"),
  await ask(port, "POST", "/echo", "hello"),
  await ask(port, "GET", "/module"),
  await ask(port, "GET", "/away"),
  await ask(port, "GET", "/nowhere"),
  await ask(port, "POST", "/echo", "x".repeat(1000)),
  await ask(port, "GET", "/panic"),
  await ask(port, "GET", "/slow"),
];
await calm();
const left = ringing().map(({ _idleTimeout, _repeat }) => ({ afterMs: _idleTimeout, everyMs: _repeat }));
const active = process.getActiveResourcesInfo();
await pause(0);
wakes = 0;
await pause(WINDOW_MS);
const idleness: Idleness = { responses, timers: left, active, wakes };
console.log(JSON.stringify(idleness));
process.exit();
