import { expect } from "chai";
import * as fc from "fast-check";
import { AppConfig } from "../../lib/app/config.js";

const DEFAULTS = { name: "app", url: "http://localhost:3000", env: "development", port: 3000 };

const fields = ({ name, url, env, port }: AppConfig) => ({ name, url, env, port });

describe("AppConfig.fromEnv", () => {
  it("reads the four variables and no other", () => {
    const config = AppConfig.fromEnv({
      APP_NAME: "shop",
      APP_URL: "https://shop.example/",
      APP_ENV: "staging",
      APP_PORT: "8080",
      PORT: "1",
      NODE_ENV: "production",
    });

    expect(fields(config)).to.deep.equal({ name: "shop", url: "https://shop.example/", env: "staging", port: 8080 });
  });

  for (const value of [undefined, "", " ", "\t\n"]) {
    it(`keeps the defaults where the variables are ${JSON.stringify(value)}`, () => {
      const config = AppConfig.fromEnv({ APP_NAME: value, APP_URL: value, APP_ENV: value, APP_PORT: value });

      expect(fields(config)).to.deep.equal(DEFAULTS);
    });
  }

  for (const port of ["http", "65536", "-1", " 80", "8 0"]) {
    it(`keeps the default port for ${JSON.stringify(port)}`, () => {
      expect(AppConfig.fromEnv({ APP_PORT: port }).port).to.equal(3000);
    });
  }

  const envs = { prod: "production", PROD: "production", Production: "production", Test: "test", staging: "staging" };
  for (const [written, env] of Object.entries(envs)) {
    it(`takes the environment ${written} for ${env}`, () => {
      expect(AppConfig.fromEnv({ APP_ENV: written }).env).to.equal(env);
    });
  }

  it("reads the process's environment unless told otherwise", () => {
    const before = process.env["APP_NAME"];
    process.env["APP_NAME"] = "of the process";
    try {
      expect(AppConfig.fromEnv().name).to.equal("of the process");
    } finally {
      if (before === undefined) delete process.env["APP_NAME"];
      else process.env["APP_NAME"] = before;
    }
  });
});

describe("new AppConfig", () => {
  it("has the defaults", () => {
    expect(fields(new AppConfig())).to.deep.equal(DEFAULTS);
  });

  it("keeps the url as it was written", () => {
    expect(new AppConfig({ url: "https://shop.example//" }).url).to.equal("https://shop.example//");
  });
});

describe("AppConfig.absoluteUrl", () => {
  const rows: readonly (readonly [url: string, path: string, absolute: string])[] = [
    ["https://shop.example", "", "https://shop.example"],
    ["https://shop.example", "/", "https://shop.example"],
    ["https://shop.example/", "", "https://shop.example"],
    ["https://shop.example", "/links/7", "https://shop.example/links/7"],
    ["https://shop.example", "links/7", "https://shop.example/links/7"],
    ["https://shop.example/", "/links/7", "https://shop.example/links/7"],
    ["https://shop.example///", "/links/", "https://shop.example/links/"],
    ["https://shop.example", "/links?page=2#top", "https://shop.example/links?page=2#top"],
    ["https://shop.example", "//evil.example/x", "https://shop.example/evil.example/x"],
    ["https://shop.example", "https://evil.example/x", "https://shop.example/https://evil.example/x"],
    ["https://shop.example", "@evil.example", "https://shop.example/@evil.example"],
    ["https://shop.example", "\\evil.example", "https://shop.example/\\evil.example"],
    ["https://shop.example/eu/", "/links", "https://shop.example/eu/links"],
    ["https://shop.example/eu", "", "https://shop.example/eu"],
  ];

  for (const [url, path, absolute] of rows) {
    it(`joins ${url} and ${JSON.stringify(path)}`, () => {
      expect(new AppConfig({ url }).absoluteUrl(path)).to.equal(absolute);
    });
  }

  it("leads to no other origin, whatever the path", () => {
    const config = new AppConfig({ url: "https://shop.example:8443/eu/" });
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.stringMatching(/^[/\\@:?#.e]*$/)), (path) => {
        expect(new URL(config.absoluteUrl(path)).origin).to.equal("https://shop.example:8443");
      }),
    );
  });
});

describe("AppConfig.check", () => {
  const good = [
    "http://localhost",
    "HTTP://LOCALHOST:1/",
    "https://shop.example/a/b//",
    "https://[::1]:3000",
    "https://bücher.example",
  ];
  for (const url of good) {
    it(`lets ${url} pass`, () => {
      expect(new AppConfig({ url }).check()).to.deep.equal([]);
    });
  }

  const bad = [
    "",
    "shop.example",
    "/x",
    "//shop.example",
    "ftp://shop.example",
    "http:shop",
    "http://",
    "http:///x",
    "https://shop.example?x",
    "https://shop.example/#x",
    " http://x",
    "http://x y",
    "http:\\\\x",
    "http://x:99999",
    "javascript:alert(1)",
  ];
  for (const url of bad) {
    it(`finds ${JSON.stringify(url)}`, () => {
      const findings = new AppConfig({ url }).check();

      expect(findings.map(({ code }) => code)).to.deep.equal(["E_APP_URL"]);
      expect(findings[0]?.what).to.contain(JSON.stringify(url));
    });
  }

  for (const url of ["https://root:s3cret@shop.example", "https://s3cret@shop.example", "s3cret@"]) {
    it(`finds credentials in a url and does not repeat them (${url.length} characters)`, () => {
      const findings = new AppConfig({ url }).check();

      expect(findings).to.have.length(1);
      expect(JSON.stringify(findings)).to.not.contain("s3cret");
    });
  }

  it("finds a port that is none, beside the url", () => {
    const codes = new AppConfig({ url: "x", port: 65_536 }).check().map(({ code }) => code);

    expect(codes).to.deep.equal(["E_APP_URL", "E_PORT"]);
  });
});
