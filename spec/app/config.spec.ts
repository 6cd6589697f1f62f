import { expect } from "chai";
import * as fc from "fast-check";
import {
  AppConfig,
  checkPort,
  parsePort,
  resolvePort,
  type Environment,
  type PortSettings,
} from "../../lib/app/config.js";
import { anyText } from "../support/any-text.js";

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
    it(`keeps the defaults if the variables are ${JSON.stringify(value)}`, () => {
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
    it(`reads the environment ${written} as ${env}`, () => {
      expect(AppConfig.fromEnv({ APP_ENV: written }).env).to.equal(env);
    });
  }

  it("reads the environment of the process by default", () => {
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

  it("keeps the URL as given", () => {
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

  it("leads to no other origin for any path", () => {
    const config = new AppConfig({ url: "https://shop.example:8443/eu/" });
    // fc.webUrl() would create a map of all code points.
    const absolute = fc
      .tuple(fc.constantFrom("http", "https"), fc.webAuthority(), anyText())
      .map(([scheme, host, text]) => `${scheme}://${host}/${encodeURIComponent(text)}`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), absolute, fc.stringMatching(/^[/\\@:?#.e]*$/)), (path) => {
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
    it(`accepts the URL ${url}`, () => {
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
    it(`refuses the URL ${JSON.stringify(url)}`, () => {
      const diagnostics = new AppConfig({ url }).check();

      expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_APP_URL"]);
      expect(diagnostics[0]?.what).to.contain(JSON.stringify(url));
    });
  }

  for (const url of ["https://root:s3cret@shop.example", "https://s3cret@shop.example", "s3cret@"]) {
    it(`refuses a URL with credentials and does not repeat them (${url.length} characters)`, () => {
      const diagnostics = new AppConfig({ url }).check();

      expect(diagnostics).to.have.length(1);
      expect(JSON.stringify(diagnostics)).to.not.contain("s3cret");
    });
  }

  it("refuses an invalid port together with an invalid URL", () => {
    const codes = new AppConfig({ url: "x", port: 65_536 }).check().map(({ code }) => code);

    expect(codes).to.deep.equal(["E_APP_URL", "E_PORT"]);
  });
});

describe("parsePort", () => {
  const rows: readonly (readonly [text: string | undefined, port: number | undefined])[] = [
    ["0", 0],
    ["1", 1],
    ["3000", 3000],
    ["0080", 80],
    ["65535", 65535],
    ["65536", undefined],
    ["99999999999999999999", undefined],
    [undefined, undefined],
    ["", undefined],
    [" ", undefined],
    [" 3000", undefined],
    ["3000 ", undefined],
    ["3000\n", undefined],
    ["+3000", undefined],
    ["-1", undefined],
    ["3e3", undefined],
    ["0x50", undefined],
    ["80.0", undefined],
    ["http", undefined],
    ["٣٠٠٠", undefined],
  ];

  for (const [text, port] of rows) {
    it(`reads ${JSON.stringify(text)} as ${port}`, () => {
      expect(parsePort(text)).to.equal(port);
    });
  }

  it("reads every number up to 65535 and no larger one", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), (number) => {
        expect(parsePort(String(number))).to.equal(number <= 65_535 ? number : undefined);
      }),
    );
  });
});

describe("resolvePort", () => {
  const all = { FRAMEWORK_BACKEND_PORT: "1", PORT: "2", APP_PORT: "3" };
  const rows: readonly (readonly [
    description: string,
    environment: Environment,
    settings: PortSettings,
    port: number,
  ])[] = [
    ["the variable of the development supervisor first", all, { asked: 4, configured: 5 }, 1],
    ["PORT before APP_PORT", { PORT: "2", APP_PORT: "3" }, { asked: 4, configured: 5 }, 2],
    ["APP_PORT before the code", { APP_PORT: "3" }, { asked: 4, configured: 5 }, 3],
    [".port(n) before .config(...)", {}, { asked: 4, configured: 5 }, 4],
    [".config(...) without .port(n)", {}, { configured: 5 }, 5],
    ["3000 if no port is set", {}, {}, 3000],
    ["the next variable if one is malformed", { ...all, FRAMEWORK_BACKEND_PORT: "http" }, {}, 2],
    ["the next variable if one is blank", { FRAMEWORK_BACKEND_PORT: " ", PORT: "", APP_PORT: "3" }, {}, 3],
    [".config(...) if all variables are malformed", { PORT: "65536", APP_PORT: " 3" }, { configured: 5 }, 5],
    ["zero from a variable", { PORT: "0" }, { asked: 4 }, 0],
    ["zero from .port(n)", {}, { asked: 0, configured: 5 }, 0],
  ];

  for (const [description, environment, settings, port] of rows) {
    it(`uses ${description}`, () => {
      expect(resolvePort(environment, settings)).to.equal(port);
    });
  }
});

describe("checkPort", () => {
  for (const port of [0, 1, 65_535]) {
    it(`accepts ${port}`, () => {
      expect(checkPort(port, ".port(n)")).to.equal(undefined);
    });
  }

  for (const port of [-1, 65_536, 80.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`refuses ${port}`, () => {
      expect(checkPort(port, ".port(n)")).to.include({
        code: "E_PORT",
        what: `${port} is not a port`,
        where: ".port(n)",
      });
    });
  }
});
