/**
 * Refuses upgrades that no listener claims. Once a server has a listener for `upgrade`, Node passes the socket of each upgrade request to
 * the listeners and no longer serves it. A socket that all listeners ignore would stay open for ever, so it is refused with 400.
 *
 * Without a listener for `upgrade` such a request is an ordinary one (RFC 9110 section 7.8), so the listener of this file is added only
 * beside others.
 */
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { findCurrentResponse } from "../http/connection/connection.js";
import { SystemClock } from "../runtime/clock.js";
import type { ConnectionRefusals } from "./connection-refusal.js";

/** A listener may claim the socket late, for example after a query for the user. engine.io waits for the same time. */
const CLAIM_MS = 1000;

/** Code that uses a socket listens to one of these events, or writes. */
const EVENTS = ["data", "readable", "end", "close", "error"] as const;

const clock = new SystemClock();

export function refuseUnclaimedUpgrades(server: Server, refusals: ConnectionRefusals): void {
  const watch = (_incoming: unknown, socket: Duplex): void => {
    // The socket has no other listener for errors until it is claimed, and a client that resets it would end the process.
    socket.on("error", ignore);
    const isClaimed = createClaimCheck(socket);
    const decide = (): void => {
      if (isClaimed()) socket.off("error", ignore);
      else refusals.refuse(socket, "400 Bad Request", { code: "UPGRADE" });
    };
    clock.setTimeout(decide, CLAIM_MS, { background: true });
  };
  const countOthers = (): number => server.listeners("upgrade").filter((each) => each !== watch).length;
  // Prepended, so that it sees the socket in the state in which Node passes it.
  const addWatcher = (): void => void server.off("upgrade", watch).prependListener("upgrade", watch);
  server.on("newListener", (event, listener) => {
    if (event === "upgrade" && listener !== watch && countOthers() === 0) addWatcher();
  });
  server.on("removeListener", (event, listener) => {
    if (event === "upgrade" && listener !== watch && countOthers() === 0) server.off("upgrade", watch);
  });
  if (countOthers() > 0) addWatcher();
}

/**
 * Returns a check that tells later whether any code uses the socket. Responses to earlier requests may be written in the meantime, so their
 * bytes do not count.
 */
function createClaimCheck(socket: Duplex & { readonly bytesWritten?: number }): () => boolean {
  const hasPendingResponse = findCurrentResponse(socket) !== undefined;
  const before = { written: socket.bytesWritten, listeners: countListeners(socket) };
  return () =>
    socket.destroyed ||
    !socket.writable ||
    (!hasPendingResponse && socket.bytesWritten !== before.written) ||
    countListeners(socket) !== before.listeners;
}

/** Counts the listeners, except the listener of Node for the response that Node writes to the socket now. */
function countListeners(socket: Duplex): number {
  const responseListeners = findCurrentResponse(socket) === undefined ? 0 : 1;
  return EVENTS.reduce((sum, event) => sum + socket.listenerCount(event), -responseListeners);
}

function ignore(): void {}
