import { expect } from "chai";
import { Application, RateLimit, Route, Routes, type RateLimitKey } from "../../../lib/entries/main.js";
import { getClientNetwork } from "../../../lib/stages/rate-limit/client-network.js";
import { testApp } from "../../../lib/testing/test-app.js";

describe("getClientNetwork", () => {
  const rows: readonly [address: string, prefix: number, network: string][] = [
    ["2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", 64, "2001:db8:1:2::/64"],
    ["2001:db8::6", 64, "2001:db8:0:0::/64"],
    ["::1", 64, "0:0:0:0::/64"],
    ["::", 64, "0:0:0:0::/64"],
    ["2001:db8:1:ffff::1", 56, "2001:db8:1:ff00::/56"],
    ["2001:db8:1:2::1", 48, "2001:db8:1::/48"],
    ["ffff:ffff::1", 1, "8000::/1"],
    ["2001:db8::ffff:1", 127, "2001:db8:0:0:0:0:ffff:0/127"],
    ["::192.0.2.1", 120, "0:0:0:0:0:0:c000:200/120"],
    ["2001:db8::1", 128, "2001:db8::1"],
    ["fe80::1%eth0", 64, "fe80::1%eth0"],
    ["203.0.113.7", 64, "203.0.113.7"],
    ["", 64, ""],
  ];

  for (const [address, prefix, network] of rows) {
    it(`reads ${JSON.stringify(address)} with ${prefix} bits as ${JSON.stringify(network)}`, () => {
      expect(getClientNetwork(address, prefix)).to.equal(network);
    });
  }
});

describe("the rate limit by address", () => {
  const one = "2001:db8:1:1::1";
  const sameNetwork = "2001:db8:1:1:ffff:ffff:ffff:ffff";
  const sameSite = "2001:db8:1:2::1";
  const rows: readonly [title: string, key: RateLimitKey, addresses: readonly string[], statuses: readonly number[]][] =
    [
      ["counts an IPv6 /64 as one client", "ip", [one, sameNetwork, sameSite], [200, 429, 200]],
      ["counts a network of another length as one client", { ipv6Prefix: 48 }, [one, sameSite], [200, 429]],
      ["counts each IPv6 address for a prefix of 128", { ipv6Prefix: 128 }, [one, sameNetwork], [200, 200]],
      ["counts each IPv4 address", "ip", ["203.0.113.7", "203.0.113.8", "::ffff:203.0.113.7"], [200, 200, 429]],
    ];

  for (const [title, key, addresses, statuses] of rows) {
    it(`${title} in the key of a rate limit`, async () => {
      const builder = Application.create()
        .routes(new Routes([Route.get("/", () => "in")]))
        .trustedProxies("127.0.0.1")
        .rateLimit(RateLimit.perHour(1).by(key));
      await using app = await testApp(builder);

      const seen: number[] = [];
      for (const address of addresses) {
        seen.push((await app.get("/", { headers: { "X-Forwarded-For": address } })).status);
      }

      expect(seen).to.deep.equal(statuses);
    });
  }
});
