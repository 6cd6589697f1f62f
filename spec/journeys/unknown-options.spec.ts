/**
 * A name that is not an option is refused where a misspelt option would drop a protection, a limit or a promise in silence. Everywhere else
 * the compiler alone refuses it.
 */
import { expect } from "chai";
import { AppConfig, Get, guard, Module, resource } from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { errorOf } from "../support/error-of.js";

/** An option that nothing knows, for a caller without types. */
const misspelt = { wrongName: 1 } as never;

const thrown: readonly (readonly [what: string, make: () => unknown])[] = [
  ["new AppConfig", () => new AppConfig(misspelt)],
  ["new RedisCache", () => new RedisCache(misspelt)],
  ["@Module of Root", () => Module(misspelt)(class Root {})],
  ['Get("/")', () => Get("/", misspelt)],
  ['guard("role")', () => guard("role", misspelt)],
  ['resource("photos")', () => resource("photos", "/photos", misspelt)],
];

describe("an option of an unknown name", () => {
  for (const [what, make] of thrown) {
    it(`in ${what} throws where it is written`, () => {
      const error = errorOf(make);

      expect(error).to.include({ code: "E_OPTION" });
      expect(error.message).to.match(/: "wrongName" is not an option; the options are \w/);
      expect(error.message).to.contain(what);
    });
  }

  it("in the values of a subclass of AppConfig is not refused", () => {
    class ShopConfig extends AppConfig {}

    expect(new ShopConfig({ name: "shop", ...({ currency: "EUR" } as object) }).name).to.equal("shop");
  });
});
