/** A name that is not an option is refused, by every object of options, because a misspelt option would have no effect. */
import { expect } from "chai";
import {
  AppConfig,
  Application,
  type ApplicationBuilder,
  Get,
  Module,
  ProxyAction,
  RateLimit,
  resource,
} from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { Metrics } from "@stagecraft/framework/observe";
import { context, testApp } from "@stagecraft/framework/testing";
import { obeysLayerContract } from "@stagecraft/framework/testing/contracts";
import { errorOf } from "../support/error-of.js";
import { rejectionOf } from "../support/rejection-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";

/** An option that nothing knows, for a caller without types. */
const misspelt = { wrongName: 1 } as never;

const built: readonly (readonly [where: string, tell: (builder: ApplicationBuilder) => unknown])[] = [
  [".compression(…)", (b) => b.compression(misspelt)],
  [".cors(…)", (b) => b.cors(misspelt)],
  [".bodyLimit(…)", (b) => b.bodyLimit(1, misspelt)],
  [".timeout(…)", (b) => b.timeout(1, misspelt)],
  [".staticFiles(…)", (b) => b.staticFiles(misspelt)],
];

const thrown: readonly (readonly [what: string, make: () => unknown])[] = [
  ["new AppConfig", () => new AppConfig(misspelt)],
  ["new Metrics", () => new Metrics(misspelt)],
  ["new RedisCache", () => new RedisCache(misspelt)],
  ["@Module of Root", () => Module(misspelt)(class Root {})],
  ['Get("/")', () => Get("/", misspelt)],
  ['resource("photos")', () => resource("photos", "/photos", misspelt)],
  ["RateLimit.by", () => RateLimit.perMinute(1).by(Object.assign({ header: "x-key" }, misspelt))],
  ["ProxyAction.redirect", () => ProxyAction.redirect("/", misspelt)],
  ["context", () => context(misspelt)],
];

describe("an option of an unknown name", () => {
  for (const [where, tell] of built) {
    it(`in ${where} is refused by build()`, () => {
      const builder = Application.create();
      tell(builder);

      const { diagnostics } = startupErrorOf(() => builder.build());

      expect(diagnostics.map((each) => [each.code, each.where])).to.deep.equal([["E_OPTION", where]]);
      expect(diagnostics[0]?.what).to.contain('"wrongName" is not an option; the options are ');
    });
  }

  for (const [what, make] of thrown) {
    it(`in ${what} throws where it is written`, () => {
      const error = errorOf(make);

      expect(error).to.include({ code: "E_OPTION" });
      expect(error.message).to.match(/: "wrongName" is not an option; the options are \w/);
      expect(error.message).to.contain(what);
    });
  }

  it("in a request of the test kit is refused, and so is one of a raw exchange and of the layer contract", async () => {
    await using app = await testApp(Application.create());

    const refused = [
      await rejectionOf(app.post("/", misspelt)),
      errorOf(() => app.raw("GET / HTTP/1.1\r\n\r\n", misspelt)),
      await rejectionOf(obeysLayerContract((_ctx, next) => next(), misspelt)),
    ];

    for (const error of refused) expect(error).to.include({ code: "E_OPTION" });
  });

  it("in the values of a subclass of AppConfig is not refused", () => {
    class ShopConfig extends AppConfig {}

    expect(new ShopConfig({ name: "shop", ...({ currency: "EUR" } as object) }).name).to.equal("shop");
  });
});
