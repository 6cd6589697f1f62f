/** The package that parses and formats messages. The first `new Languages` loads it. */
import { expectPeer, requirePeer, type Peer } from "../errors/optional-package.js";

const PEER: Peer = {
  entry: "@stagecraft/framework/i18n",
  name: "@fluent/bundle",
  from: "0.18.0",
  before: "0.20.0",
  install: "@fluent/bundle@0.19",
};

export type FluentPackage = typeof import("@fluent/bundle");

/** @throws FrameworkError `E_PEER_MISSING`, `E_PEER_VERSION` */
export function loadFluent(): FluentPackage {
  expectPeer(PEER);
  return requirePeer(PEER) as FluentPackage;
}
