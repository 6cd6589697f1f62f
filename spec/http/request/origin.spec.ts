import { expect } from "chai";
import { isSiteUrl, findOrigin, listSiteOrigins } from "../../../lib/http/request/origin.js";

/** RFC 9110 section 4.2.3, RFC 6454 section 4. */
const ORIGINS: readonly (readonly [text: string, origin: string | undefined])[] = [
  ["http://shop.example", "http://shop.example"],
  ["HTTP://Shop.Example:80", "http://shop.example"],
  ["https://shop.example:443/a?b#c", "https://shop.example"],
  ["https://shop.example:80", "https://shop.example:80"],
  ["http://[::1]:80/", "http://[::1]"],
  ["null", undefined],
  ["", undefined],
  ["shop.example", undefined],
  ["ftp://shop.example", undefined],
  ["data:text/html,x", undefined],
  ["http://", undefined],
  ["http://a b", undefined],
];

const SITES: readonly (readonly [protocol: string, host: string, origins: readonly string[]])[] = [
  ["http", "shop.example", ["http://shop.example", "https://shop.example"]],
  ["http", "SHOP.example:80", ["http://shop.example", "https://shop.example:80"]],
  ["https", "shop.example:443", ["https://shop.example", "https://shop.example"]],
  ["http", "", []],
  ["http", "user@shop.example", []],
  ["http", "shop.example/a", []],
];

describe("origins", () => {
  for (const [text, origin] of ORIGINS) {
    it(`${JSON.stringify(text)} has the origin ${String(origin)}`, () => {
      expect(findOrigin(text)).to.equal(origin);
      expect(isSiteUrl(text, ["http://shop.example"])).to.equal(origin === "http://shop.example");
    });
  }

  for (const [protocol, host, origins] of SITES) {
    it(`the site of ${protocol}://${host} has the origins ${origins.join(", ")}`, () => {
      expect(listSiteOrigins({ protocol, host })).to.deep.equal(origins);
      expect(listSiteOrigins({ protocol, host }, "https://Own.example:443/sub")).to.deep.equal([
        ...origins,
        "https://own.example",
      ]);
    });
  }
});
