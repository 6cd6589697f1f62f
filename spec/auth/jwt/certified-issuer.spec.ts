/** Access tokens of the certified provider `oidc-provider`, with its discovery and its keys. On Node 20 it warns, and works. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { FakeClock, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { AUDIENCE, orders, reasonsOf, send, startOrders } from "./bearer-application.js";

const CLIENT = { client_id: "till", client_secret: "the secret of the till" };
const OTHER = "https://api.other.example";

async function toListener(issuer: string): Promise<RequestListener> {
  const { Provider } = await import("oidc-provider");
  const certified = new Provider(issuer, {
    clients: [{ ...CLIENT, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] }],
    scopes: ["orders:read", "orders:list"],
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, audience) => ({
          scope: "orders:read orders:list",
          audience,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
  const respond = certified.callback();
  return (request, response) => void respond(request, response);
}

describe("an access token of oidc-provider", () => {
  let server: Server;
  let issuer: string;
  let app: TestApp;

  before(async () => {
    let listener: RequestListener | undefined;
    server = createServer((request, response) => listener?.(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    // A server that listens on TCP has an address that is an object.
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    listener = await toListener(issuer);
    app = await startOrders({ issuer, audience: AUDIENCE }, new FakeClock(Date.now()));
  });
  after(async () => {
    await app.stop();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });

  async function issue(resource: string, scope: string): Promise<string> {
    const body = new URLSearchParams({ ...CLIENT, grant_type: "client_credentials", resource, scope });
    const response = await fetch(`${issuer}/token`, { method: "POST", body });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  it("lets its program in, with its scopes", async () => {
    const [all, one] = [await issue(AUDIENCE, "orders:read orders:list"), await issue(AUDIENCE, "orders:read")];

    expect(await (await send(app, all)).json()).to.include({ subject: "till", issuer, clientId: "till" });
    expect((await send(app, all, orders.read.url())).status).to.equal(200);
    expect((await send(app, one, orders.read.url())).status).to.equal(403);
  });

  it("is refused where it is for another application, or has a changed byte", async () => {
    const [header, payload, signature = ""] = (await issue(AUDIENCE, "orders:read")).split(".");

    expect((await send(app, await issue(OTHER, "orders:read"))).status).to.equal(401);
    expect((await send(app, [header, payload, "A".repeat(signature.length)].join("."))).status).to.equal(401);
    expect(reasonsOf(app).slice(-2)).to.deep.equal(["audience", "signature"]);
  });
});
