import { isIP } from "node:net";
import { expect } from "chai";
import * as fc from "fast-check";
import { TrustedProxies } from "../../../lib/http/request/client-address.js";
import { FrameworkError } from "../../../lib/errors/framework-error.js";

describe("TrustedProxies", () => {
  const inside = TrustedProxies.parse("10.0.0.0/8, 192.168.7.1 fd00::/8\t2001:db8::5");

  describe("the client's address", () => {
    const rows: readonly (readonly [string, string | undefined, readonly string[] | undefined, string])[] = [
      ["no proxy header", "10.0.0.1", undefined, "10.0.0.1"],
      ["an untrusted peer, whose header is ignored", "203.0.113.9", ["198.51.100.1"], "203.0.113.9"],
      ["a trusted peer that names the client", "10.0.0.1", ["198.51.100.1"], "198.51.100.1"],
      ["the first untrusted entry from the right", "10.0.0.1", ["1.1.1.1, 198.51.100.1, 10.0.0.2"], "198.51.100.1"],
      [
        "several lines, which are joined in order",
        "10.0.0.1",
        ["1.1.1.1", "198.51.100.1,10.0.0.2", "fd00::2"],
        "198.51.100.1",
      ],
      ["the leftmost of trusted entries only", "10.0.0.1", ["10.0.0.4, 10.0.0.3", "10.0.0.2"], "10.0.0.4"],
      ["the peer for an unreadable last entry", "10.0.0.1", ["198.51.100.1, junk"], "10.0.0.1"],
      ["the last trusted entry before an unreadable one", "10.0.0.1", ["198.51.100.1, junk, 10.0.0.2"], "10.0.0.2"],
      ["an empty entry, which is unreadable", "10.0.0.1", ["198.51.100.1,, 10.0.0.2"], "10.0.0.2"],
      ["an empty header", "10.0.0.1", [""], "10.0.0.1"],
      ["an empty line after a valid one", "10.0.0.1", ["198.51.100.1", ""], "10.0.0.1"],
      ["no lines at all", "10.0.0.1", [], "10.0.0.1"],
      ["a single address, which is trusted", "192.168.7.1", ["198.51.100.1"], "198.51.100.1"],
      ["the next address, which is not trusted", "192.168.7.2", ["198.51.100.1"], "192.168.7.2"],
      ["a v6 proxy", "2001:db8::5", ["198.51.100.1"], "198.51.100.1"],
      ["a v6 block", "fd12:3456::1", ["2001:db8::99"], "2001:db8::99"],
      ["a mapped peer, which counts as IPv4", "::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"],
      ["a mapped peer, which is written as IPv4", "::ffff:203.0.113.9", undefined, "203.0.113.9"],
      ["a mapped entry, which counts as IPv4", "10.0.0.1", ["198.51.100.1, ::ffff:10.0.0.2"], "198.51.100.1"],
      ["a mapped entry in hexadecimal", "10.0.0.1", ["198.51.100.1, ::FFFF:A00:2"], "198.51.100.1"],
      ["a link-local peer with its zone", "fe80::1%eth0", undefined, "fe80::1%eth0"],
      ["no peer address (IPC)", undefined, ["198.51.100.1"], ""],
      ["an empty peer address", "", ["198.51.100.1"], ""],
      ["a peer that is not an address, which no block trusts", "pipe", ["198.51.100.1"], "pipe"],
    ];

    for (const [title, peer, forwardedFor, client] of rows) {
      it(`is ${JSON.stringify(client)}: ${title}`, () => {
        expect(inside.clientIp(peer, forwardedFor)).to.equal(client);
      });
    }

    it("is that of the peer if no proxy is trusted", () => {
      expect(TrustedProxies.none.clientIp("10.0.0.1", ["198.51.100.1"])).to.equal("10.0.0.1");
      expect(TrustedProxies.none.clientIp("::ffff:10.0.0.1", ["198.51.100.1"])).to.equal("10.0.0.1");
    });

    it("trusts a link-local peer by its address without the zone", () => {
      const proxies = TrustedProxies.parse("fe80::/10");

      expect(proxies.clientIp("fe80::1%eth0", ["198.51.100.1"])).to.equal("198.51.100.1");
    });
  });

  describe("the address in an entry of X-Forwarded-For", () => {
    const readable: readonly (readonly [string, string])[] = [
      ["198.51.100.1", "198.51.100.1"],
      [" \t198.51.100.1\t ", "198.51.100.1"],
      ["198.51.100.1:8080", "198.51.100.1"],
      ["198.51.100.1:0", "198.51.100.1"],
      ["198.51.100.1:65535", "198.51.100.1"],
      ["2001:db8::1", "2001:db8::1"],
      ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
      ["[2001:db8::1]", "2001:db8::1"],
      ["[2001:db8::1]:443", "2001:db8::1"],
      ["[::ffff:198.51.100.1]:443", "198.51.100.1"],
      ["0000:0000:0000:0000:0000:ffff:198.51.100.100", "198.51.100.100"],
      ["[0000:0000:0000:0000:0000:ffff:198.151.100.100]:65535", "198.151.100.100"],
    ];
    const unreadable = [
      "",
      " ",
      "unknown",
      "_hidden",
      "localhost",
      "198.51.100",
      "198.51.100.256",
      "198.51.100.01",
      "0xc6336401",
      "3325256705",
      "198.51.100.1/32",
      "198.51.100.1:",
      "198.51.100.1:65536",
      "198.51.100.1:080000",
      "198.51.100.1:8o",
      "198.51.100.1:-1",
      "198.51.100.1 :80",
      "198.51.100.1 10.0.0.2",
      "[198.51.100.1]",
      "[198.51.100.1]:80",
      "[2001:db8::1",
      "2001:db8::1]",
      "[2001:db8::1]443",
      "[2001:db8::1]:",
      "[2001:db8::1]:x",
      "[[2001:db8::1]]",
      "[]",
      "fe80::1%eth0",
      "[fe80::1%eth0]",
      "2001:db8::1::2",
      '"198.51.100.1"',
      "for=198.51.100.1",
      "\u00a0198.51.100.1",
      "198.51.100.1\u0000",
      "１９８.51.100.1",
      "1".repeat(16_000),
      "[".repeat(16_000),
      ":".repeat(16_000),
    ];

    for (const [entry, address] of readable) {
      it(`is read from ${JSON.stringify(entry)}`, () => {
        expect(inside.clientIp("10.0.0.1", [entry])).to.equal(address);
      });
    }

    for (const entry of unreadable) {
      it(`is not read from ${JSON.stringify(entry.slice(0, 40))}`, () => {
        expect(inside.clientIp("10.0.0.1", [`198.51.100.1,${entry},10.0.0.2`])).to.equal("10.0.0.2");
      });
    }
  });

  describe("the trusted list", () => {
    const covers: readonly (readonly [string, string, boolean])[] = [
      ["10.20.30.40/8", "10.255.255.255", true],
      ["10.20.30.40/8", "11.0.0.0", false],
      ["10.0.0.128/25", "10.0.0.127", false],
      ["10.0.0.130/25", "10.0.0.128", true],
      ["10.0.0.1/32", "10.0.0.1", true],
      ["10.0.0.1/32", "10.0.0.0", false],
      ["0.0.0.0/0", "203.0.113.1", true],
      ["0.0.0.0/0", "2001:db8::1", false],
      ["::/0", "2001:db8::1", true],
      ["::/0", "203.0.113.1", false],
      ["::/0", "::ffff:203.0.113.1", false],
      ["2001:db8:ffff::/33", "2001:db8:8000::1", true],
      ["2001:db8:ffff::/33", "2001:db8:7fff::1", false],
      ["2001:DB8::1/128", "2001:db8::1", true],
      ["::ffff:10.0.0.0/104", "10.9.9.9", true],
      ["::ffff:10.0.0.0/104", "11.0.0.1", false],
      ["::ffff:10.0.0.1", "10.0.0.1", true],
      ["10.0.0.1,,  ,10.0.0.2", "10.0.0.2", true],
      ["10.0.0.1\n10.0.0.2", "10.0.0.2", true],
    ];
    const junk = [
      "proxy.example",
      "10.0.0.0/33",
      "10.0.0.0/",
      "10.0.0.0/-1",
      "10.0.0.0/+8",
      "10.0.0.0/08",
      "10.0.0.0/8.5",
      "10.0.0.0/8e0",
      "10.0.0.0/8/8",
      "10.0.0.0/255.0.0.0",
      "10.0.0",
      "/8",
      "2001:db8::/129",
      "[2001:db8::]/32",
      "fe80::1%eth0",
      "fe80::%eth0/10",
      "::ffff:10.0.0.0/8",
      "10.0.0.1:80",
      "*",
      "loopback",
    ];

    for (const [list, peer, isTrusted] of covers) {
      it(`${JSON.stringify(list)} ${isTrusted ? "trusts" : "does not trust"} the peer ${peer}`, () => {
        const seen = TrustedProxies.parse(list).clientIp(peer, ["198.51.100.1"]);

        expect(seen === "198.51.100.1").to.equal(isTrusted);
      });
    }

    for (const entry of junk) {
      it(`refuses ${JSON.stringify(entry)}, naming it`, () => {
        const attempt = () => TrustedProxies.parse(`127.0.0.1, ${entry}`);

        expect(attempt).to.throw(FrameworkError, JSON.stringify(entry)).that.has.property("code", "E_TRUSTED_PROXIES");
      });
    }

    it("names every invalid entry", () => {
      expect(() => TrustedProxies.parse("a, 10.0.0.1, b")).to.throw('"a", "b"');
    });

    for (const list of [undefined, "", " , \t"]) {
      it(`trusts no proxy if it is ${JSON.stringify(list)}`, () => {
        expect(TrustedProxies.parse(list)).to.equal(TrustedProxies.none);
      });
    }
  });

  describe("the client's scheme", () => {
    const rows: readonly (readonly [string, string | undefined, readonly string[] | undefined, "http" | "https"])[] = [
      ["trusted peer", "10.0.0.1", ["https"], "https"],
      ["untrusted peer", "203.0.113.9", ["https"], "http"],
      ["no peer address", undefined, ["https"], "http"],
      ["no header", "10.0.0.1", undefined, "http"],
      ["no lines", "10.0.0.1", [], "http"],
      ["the last value of a line", "10.0.0.1", ["http, https"], "https"],
      ["the last line", "10.0.0.1", ["https", "http"], "http"],
      ["in upper case", "10.0.0.1", ["HTTPS"], "https"],
      ["another scheme", "10.0.0.1", ["wss"], "http"],
      ["nothing after the comma", "10.0.0.1", ["https,"], "http"],
      ["whitespace around it", "10.0.0.1", ["http,\t https "], "https"],
      ["longer than any scheme", "10.0.0.1", ["https".repeat(3000)], "http"],
    ];

    for (const [title, peer, forwardedProto, scheme] of rows) {
      it(`the client's scheme is ${scheme}: ${title}`, () => {
        expect(inside.protocol(peer, forwardedProto, "http")).to.equal(scheme);
      });
    }
  });

  describe("for random input", () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom("10.0.0.2", "fd00::2", "::ffff:10.3.3.3"));

    it("the client's address is that of the peer or one that was sent, and no error is thrown", () => {
      fc.assert(
        fc.property(fc.array(fc.oneof(address, fc.string())), fc.string(), (entries, tail) => {
          const seen = inside.clientIp("10.0.0.1", [entries.join(","), tail]);

          expect(isIP(seen)).to.be.oneOf([4, 6]);
        }),
      );
    });

    it("entries to the left of the trusted proxy's entry have no effect", () => {
      fc.assert(
        fc.property(fc.string(), (forged) => {
          expect(inside.clientIp("10.0.0.1", [forged, "198.51.100.1, 10.0.0.2"])).to.equal("198.51.100.1");
        }),
      );
    });

    it("the trust in an address stays the same after thousands of addresses", () => {
      for (let index = 0; index < 3000; index++) {
        const neighbour = `203.0.${index >> 8}.${index & 255}`;
        expect(inside.clientIp(neighbour, ["198.51.100.1"])).to.equal(neighbour);
      }

      expect(inside.clientIp("10.0.0.1", ["198.51.100.1"])).to.equal("198.51.100.1");
    });
  });
});
