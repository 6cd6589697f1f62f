/** `app.actingAs` of the tests, with the guard `bearer`. */
import { Clock, provide } from "@stagecraft/framework";
import { issuer } from "@stagecraft/framework/auth/guards";
import { TokenVerifier } from "@stagecraft/framework/auth/jwt";
import { double, FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { rejectionOf } from "../../support/rejection-of.js";
import {
  AUDIENCE,
  buildOrders,
  company,
  createKey,
  ISSUER,
  NOW,
  orders,
  reasonsOf,
  send,
  sign,
  startOrders,
  verificationOf,
} from "./bearer-application.js";
import { startIssuing } from "./issuing-application.js";
import { KeyServer } from "./key-server.js";

const HOUR_MS = 3_600_000;

describe("a client that acts by an access token", () => {
  it("has its scopes and claims, without a request to the issuer", async () => {
    await using keys = await KeyServer.start();
    await using app = await startOrders({ jwksUrl: keys.url });
    const claims = { client_id: "till", team: "a" };
    const till = await app.actingAs("user-7", { issuer: company, scopes: ["orders:read", "orders:list"], claims });
    const other = await app.actingAs("user-8", { issuer: company });

    const identity = await (await till.get(orders.list.url())).json<{ claims: object }>();
    expect(identity).to.include({ subject: "user-7", issuer: ISSUER, clientId: "till" });
    expect(identity.claims).to.include({ team: "a", exp: NOW + 3600 });
    expect((await till.get(orders.read.url())).status).to.equal(200);
    expect((await other.get(orders.list.url())).status).to.equal(200);
    expect((await other.get(orders.read.url())).status).to.equal(403);
    expect((await app.get(orders.list.url())).status).to.equal(401);
    expect(keys.requests).to.equal(0);
  });

  it("meets all rules of the application, by its claims and its clock", async () => {
    const clock = new FakeClock(NOW * 1000);
    await using app = await startOrders({ jwks: { keys: [(await createKey()).jwk] } }, clock);
    const acting = async (claims: object) => app.actingAs("user-7", { issuer: company, claims: { ...claims } });
    for (const claims of [
      { exp: NOW - 60 },
      { aud: "https://other.example" },
      { iss: `${ISSUER}/` },
      { sub: undefined },
    ])
      expect((await (await acting(claims)).get(orders.list.url())).status).to.equal(401);
    expect(reasonsOf(app)).to.deep.equal(["expired", "audience", "issuer", "claims"]);

    const client = await acting({});
    clock.advance(HOUR_MS + 60_000);
    expect((await client.get(orders.list.url())).status).to.equal(401);
  });

  it("leaves the keys of the issuer as they are", async () => {
    const key = await createKey();
    await using app = await startOrders({ jwks: { keys: [key.jwk] } });
    await app.actingAs("user-7", { issuer: company });

    expect((await send(app, await sign(key))).status).to.equal(200);
    for (const kid of ["second", undefined])
      expect((await send(app, await sign(await createKey(), {}, { kid }))).status).to.equal(401);
  });

  for (const [title, options] of [
    ["several audiences", { audience: [AUDIENCE, "https://other.example"] }],
    ["another type and RSA alone", { type: "JWT", algorithms: ["RS256"] }],
    ["Ed25519", { algorithms: ["Ed25519"] }],
    [
      "a shared secret",
      { algorithms: ["HS512"], jwks: { keys: [{ kty: "oct", k: Buffer.alloc(64, 7).toString("base64url") }] } },
    ],
  ] as const)
    it(`fits an issuer with ${title}`, async () => {
      await using app = await startOrders(options);
      const [client, same] = await Promise.all([1, 2].map(() => app.actingAs("user-7", { issuer: company })));

      expect((await client?.get(orders.list.url()))?.status).to.equal(200);
      expect((await same?.get(orders.list.url()))?.status).to.equal(200);
    });

  it("fits an application that is its own issuer", async () => {
    await using app = await startIssuing();
    expect((await (await app.actingAs("user-7", { issuer: company })).get(orders.list.url())).status).to.equal(200);
  });

  it("needs an issuer that the application has, and its verifier", async () => {
    await using app = await startOrders({});
    const nobody = rejectionOf(app.actingAs("user-7", { issuer: issuer("nobody") }));
    expect((await nobody).message).to.include("the verifier of the issuer nobody");

    const verifier = double(TokenVerifier.of(company), { verify: () => Promise.resolve(undefined) });
    await using replaced = await testApp(
      buildOrders(verificationOf({})),
      verifier,
      provide(Clock).useValue(new FakeClock()),
    );
    const message = (await rejectionOf(replaced.actingAs("user-7", { issuer: company }))).message;
    expect(message).to.include("is a double");
  });
});
