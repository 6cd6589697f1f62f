/**
 * Refuses upgrades that no listener claims. Once a server has a listener for `upgrade`, Node passes the socket of each upgrade request to
 * the listeners and no longer serves it. A socket that all listeners ignore would stay open for ever, so it is refused with 400.
 *
 * Without a listener for `upgrade` such a request is an ordinary one (RFC 9110 section 7.8), so the listener of this file is added only
 * beside others.
 */
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { findCurrentResponse, markUpgraded } from "../http/connection/connection.js";
import { SystemClock } from "../runtime/clock.js";
import type { ConnectionRefusals } from "./connection-refusal.js";

/** A listener may claim the socket late, for example after a query for the user. engine.io waits for the same time. */
const CLAIM_MS = 1000;

/** Code that uses a socket listens to one of these events, or writes. */
const EVENTS = ["data", "readable", "end", "close", "error"] as const;

const clock = new SystemClock();

export function refuseUnclaimedUpgrades(server: Server, refusals: ConnectionRefusals): void {
  watchBesideOthers(server, "connect", (_incoming, socket) => markUpgraded(socket));
  watchBesideOthers(server, "upgrade", (_incoming, socket) => {
    markUpgraded(socket);
    // The socket has no other listener for errors until it is claimed, and a client that resets it would end the process.
    socket.on("error", ignore);
    const isClaimed = createClaimCheck(socket);
    const decide = (): void => {
      if (isClaimed()) socket.off("error", ignore);
      else refusals.refuse(socket, "400 Bad Request", { code: "UPGRADE" });
    };
    clock.setTimeout(decide, CLAIM_MS, { background: true });
  });
}

type Watcher = (incoming: unknown, socket: Duplex) => void;

/** Adds a listener as long as there are others. */
function watchBesideOthers(server: Server, name: "upgrade" | "connect", watch: Watcher): void {
  const countOthers = (): number => server.listeners(name).filter((each) => each !== watch).length;
  // Prepended, so that it sees the socket in the state in which Node passes it.
  const addWatcher = (): void => void server.off(name, watch).prependListener(name, watch);
  server.on("newListener", (event, listener) => {
    if (event === name && listener !== watch && countOthers() === 0) addWatcher();
  });
  server.on("removeListener", (event, listener) => {
    if (event === name && listener !== watch && countOthers() === 0) server.off(name, watch);
  });
  if (countOthers() > 0) addWatcher();
}

/**
 * Returns a check that tells later whether any code uses the socket. Responses to earlier requests may be written in the meantime, so their
 * bytes do not count.
 */
function createClaimCheck(socket: Duplex & { readonly bytesWritten?: number }): () => boolean {
  const hasPendingResponse = findCurrentResponse(socket) !== undefined;
  const before = { written: socket.bytesWritten, listeners: new Set(listListeners(socket)) };
  return () =>
    socket.destroyed ||
    !socket.writable ||
    (!hasPendingResponse && socket.bytesWritten !== before.written) ||
    listListeners(socket).some((listener) => !before.listeners.has(listener));
}

function listListeners(socket: Duplex): readonly unknown[] {
  return EVENTS.flatMap((event) => socket.rawListeners(event));
}

function ignore(): void {}
