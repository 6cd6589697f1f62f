/** The text of an access token and the secret of its issuer, which then stand nowhere: not in a log, a span, a metric, an error, or a class. */
import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import { Clock, provide } from "@stagecraft/framework";
import { TokenVerifier, VerificationKeys } from "@stagecraft/framework/auth/jwt";
import { expectNoLeak, FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import {
  AUDIENCE,
  buildOrders,
  CLAIMS,
  company,
  encode,
  NOW,
  orders,
  send,
  verificationOf,
} from "./bearer-application.js";

const SECRET = "canary4711secret".padEnd(43, "A");

describe("an access token and a shared secret", () => {
  it("stand in no log, span, metric, error and printed class", async () => {
    const jwks = { keys: [{ kty: "oct", kid: "first", k: SECRET }] };
    const builder = buildOrders(verificationOf({ jwks, algorithms: ["HS256"], audience: AUDIENCE }));
    const staged = builder.requestId().traceContext().accessLog().metrics().catchPanic().errorMapping();
    await using app = await testApp(staged, provide(Clock).useValue(new FakeClock(NOW * 1000)));
    const signed = `${encode({ alg: "HS256", typ: "at+jwt", kid: "first" })}.${encode({ ...CLAIMS, scope: "" })}`;
    const mac = createHmac("sha256", Buffer.from(SECRET, "base64url")).update(signed).digest("base64url");

    expect((await send(app, `${signed}.${mac}`)).status).to.equal(200);
    const bodies = [];
    for (const [text, path, status] of [
      [`${signed}.${mac}`, orders.read.url(), 403],
      [`${signed}.${mac.slice(1)}`, orders.list.url(), 401],
      [`${signed}.${mac}.`, orders.list.url(), 401],
    ] as const) {
      const response = await send(app, text, path);
      expect(response.status).to.equal(status);
      bodies.push(await response.text(), JSON.stringify([...response.headers]));
    }
    const printed = [VerificationKeys.of(company), TokenVerifier.of(company)].map((token) =>
      inspect(app.resolve<unknown>(token), { depth: 12, showHidden: true }),
    );

    const lines = app.logs.lines().join("\n");
    expect(lines).to.include("access token refused");
    const bytes = inspect(Buffer.from(SECRET, "base64url").subarray(0, 8)).slice(8, -1);
    for (const secret of [signed, mac, SECRET, bytes, encode(CLAIMS).slice(0, 40), "user-7"])
      for (const shown of [...printed, ...bodies, lines]) expect(shown.includes(secret), secret).to.equal(false);
    await expectNoLeak(app, "canary4711secret");
  });
});
