import { expect } from "chai";
import { AddressBlocks, Application, FrameworkError, Route, Routes } from "../../../lib/entries/main.js";
import { testApp } from "../../../lib/entries/testing.js";

describe("AddressBlocks", () => {
  const rows: readonly (readonly [
    keyof typeof AddressBlocks & ("loopback" | "private" | "linkLocal"),
    string,
    boolean,
  ])[] = [
    ["loopback", "127.0.0.1", true],
    ["loopback", "127.255.255.255", true],
    ["loopback", "128.0.0.0", false],
    ["loopback", "::1", true],
    ["loopback", "::2", false],
    ["loopback", "::ffff:127.0.0.1", true],
    ["loopback", "10.0.0.1", false],
    ["private", "10.0.0.0", true],
    ["private", "10.255.255.255", true],
    ["private", "11.0.0.0", false],
    ["private", "172.15.255.255", false],
    ["private", "172.16.0.0", true],
    ["private", "172.31.255.255", true],
    ["private", "172.32.0.0", false],
    ["private", "192.168.255.255", true],
    ["private", "192.169.0.0", false],
    ["private", "fc00::", true],
    ["private", "fdff:ffff::1", true],
    ["private", "fe00::", false],
    ["private", "127.0.0.1", false],
    ["private", "169.254.0.1", false],
    ["private", "fe80::1", false],
    ["linkLocal", "169.254.0.0", true],
    ["linkLocal", "169.255.0.0", false],
    ["linkLocal", "fe80::1%eth0", true],
    ["linkLocal", "febf::1", true],
    ["linkLocal", "fec0::1", false],
  ];
  for (const [name, address, isIn] of rows) {
    it(`${name} ${isIn ? "includes" : "does not include"} ${address}`, () => {
      expect(AddressBlocks[name].includes(address)).to.equal(isIn);
    });
  }

  it("includes no text that is not an address", () => {
    const all = AddressBlocks.parse("0.0.0.0/0, ::/0");

    for (const text of ["", "localhost", "10.0.0", "10.0.0.1/8", "::1::", "%", "1".repeat(10_000)]) {
      expect(all.includes(text), text.slice(0, 20)).to.equal(false);
    }
  });

  it("includes the addresses of both sets that are joined", () => {
    const both = AddressBlocks.loopback.and(AddressBlocks.parse("203.0.113.0/24"));

    expect(["127.0.0.1", "203.0.113.9", "10.0.0.1"].map((each) => both.includes(each))).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect(AddressBlocks.loopback.includes("203.0.113.9")).to.equal(false);
  });

  it("refuses a list with another entry, and names each", () => {
    expect(() => AddressBlocks.parse("lan, 10.0.0.0/8, 10.0.0.0/33"))
      .to.throw(FrameworkError, '"lan", "10.0.0.0/33"')
      .that.has.property("code", "E_ADDRESS_BLOCKS");
  });

  it("is a list of trusted proxies", async () => {
    const routes = new Routes([Route.get("/", ({ ip }) => ip)]);
    const trusting = (blocks: AddressBlocks) => testApp(Application.create().routes(routes).trustedProxies(blocks));
    await using behind = await trusting(AddressBlocks.loopback);
    await using open = await trusting(AddressBlocks.none);
    const headers = { "X-Forwarded-For": "203.0.113.7" };

    expect(await (await behind.get("/", { headers })).text()).to.equal("203.0.113.7");
    expect(await (await open.get("/", { headers })).text()).to.equal("127.0.0.1");
  });
});
