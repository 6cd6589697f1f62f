/** The text of an API token, which then stands nowhere: not in a log, a span, a metric, an event, an error, or the printed form of a class. */
import { inspect } from "node:util";
import { ApiTokenGuard, ApiTokens, ApiTokenStore } from "@stagecraft/framework/auth";
import { expectNoLeak, FakeClock, testApp } from "@stagecraft/framework/testing";
import { Clock, provide } from "@stagecraft/framework";
import { expect } from "chai";
import { toTokenHash } from "../../../lib/auth/tokens/token-text.js";
import { AppDatabase } from "../auth-database.js";
import { api, buildTokens, sendToken, tokens } from "./token-application.js";

describe("an API token", () => {
  it("stands in no log, span, metric, event, error and printed class", async () => {
    const db = AppDatabase.on();
    const builder = buildTokens({ db }).requestId().traceContext().accessLog().metrics().catchPanic().errorMapping();
    await using app = await testApp(builder, provide(Clock).useValue(new FakeClock()));
    const ada = await app.actingAs("ada");
    const created = await ada.post(tokens.create.url(), { json: { name: "laptop", scopes: ["links:write"] } });
    const { text, token } = await created.json<{ text: string; token: { id: string } }>();

    expect((await sendToken(app, text)).status).to.equal(200);
    expect((await sendToken(app, text, api.read.url())).status).to.equal(403);
    expect((await sendToken(app, `${text}x`)).status).to.equal(401);
    const printed = [ApiTokens, ApiTokenGuard, ApiTokenStore].map((each) =>
      inspect(app.resolve(each as typeof ApiTokens), { depth: 12, showHidden: true }),
    );
    await ada.delete(tokens.revoke.url(token.id));
    expect((await sendToken(app, text)).status).to.equal(401);
    await db.stop();
    const failed = await sendToken(app, text);
    expect(failed.status).to.equal(503);
    const body = await failed.text();

    const lines = app.logs.lines().join("\n");
    expect(lines).to.include("API token refused").and.include("API token revoked").and.include(token.id);
    for (const secret of [text, text.slice(4), toTokenHash(text)])
      for (const shown of [...printed, lines, body]) expect(shown.includes(secret), secret).to.equal(false);
    await expectNoLeak(app, text.slice(4));
  });
});
