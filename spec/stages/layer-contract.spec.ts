import { CompressionLayer } from "../../lib/stages/compression.js";
import { CorsLayer } from "../../lib/stages/cors/cors.js";
import { ProxyAction, ProxyLayer } from "../../lib/stages/proxy.js";
import { SecurityHeaders } from "../../lib/stages/security-headers/security-headers.js";
import { obeysLayerContract } from "../../lib/testing/obeys-layer-contract.js";

describe("The layers of the edge obey the contract of layers:", () => {
  it("SecurityHeaders", () => obeysLayerContract(new SecurityHeaders().withHsts().withCspNonce("'nonce-{nonce}'")));

  it("CorsLayer", () =>
    obeysLayerContract(new CorsLayer({ origins: ["https://app.example"], credentials: true }), {
      request: { headers: { origin: "https://app.example" } },
      refused: {
        method: "OPTIONS",
        headers: { origin: "https://app.example", "access-control-request-method": "PUT" },
      },
    }));

  it("CorsLayer with a predicate that takes its time", () =>
    obeysLayerContract(new CorsLayer({ origins: async () => true }), {
      request: { headers: { origin: "https://app.example" } },
    }));

  for (const coding of ["br", "gzip", "identity"]) {
    it(`Compression for ${coding}`, () =>
      obeysLayerContract(new CompressionLayer({ threshold: 0 }), {
        request: { headers: { "accept-encoding": coding } },
      }));
  }

  it("ProxyLayer", () =>
    obeysLayerContract(
      new ProxyLayer(({ url }) => (url === "/closed" ? ProxyAction.shortCircuit(410) : ProxyAction.rewrite("/new"))),
      { refused: { path: "/closed" } },
    ));

  it("ProxyLayer that takes its time", () =>
    obeysLayerContract(new ProxyLayer(async () => ProxyAction.continue({ "x-tenant": "7" }))));
});
