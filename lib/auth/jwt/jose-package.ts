/** The package `jose`, which signs and verifies. It is an ES module without a top-level `await`, so `require` loads it too. */
import { expectInstalled, expectPeer, type Peer, requirePeer } from "../../errors/optional-package.js";

const PEER: Peer = {
  entry: "@stagecraft/framework/auth/jwt",
  name: "jose",
  from: "6.0.0",
  before: "7.0.0",
  install: "jose@6",
};

type Jose = typeof import("jose");

let loaded: Jose | undefined;

/** @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function expectJose(): void {
  expectInstalled(PEER);
}

/** The first key loads the package. @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function loadJose(): Jose {
  return (loaded ??= load());
}

function load(): Jose {
  expectPeer(PEER);
  return requirePeer(PEER) as Jose;
}
