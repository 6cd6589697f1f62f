import { expect } from "chai";
import { ApplicationFolder, runBin } from "../../support/application-folder.js";

const APP = `
import { AppConfig, Application, environment, variable } from "@stagecraft/framework";

const settings = environment({
  CORS_ORIGINS: variable.origin().list(),
  ADMIN_CODE: variable.text().secret().optional(),
  GREETING: variable.text().default("hello"),
}, { ...process.env });
const region = process.env["REGION"];
export default Application.create().config(AppConfig.fromEnv({ APP_NAME: "shop", ...process.env }));
`;

const ENV = {
  ADMIN_CODE: "canary-1",
  REGION: "north",
  DATABASE_URL: "postgres://shop:canary-2@localhost/shop",
  APP_URL: "https://shop.example",
  UNREAD: "canary-3",
};

describe("stagecraft config", () => {
  it("lists the variables that the application and the framework read, with their source, and no secret", async () => {
    using folder = new ApplicationFolder({
      "app.js": `${APP}process.env.DATABASE_URL;`,
      ".env": "GREETING=good day\nREGION=south\n",
    });

    const { code, stdout } = await runBin(["config", "--json"], { cwd: folder.path, env: ENV });

    expect(code).to.equal(0);
    expect(stdout).not.to.include("canary");
    const found = new Map(
      (JSON.parse(stdout) as readonly { readonly name: string }[]).map(({ name, ...rest }) => [name, rest]),
    );
    const rows: readonly (readonly [string, object])[] = [
      ["ADMIN_CODE", { isSet: true, source: "environment", readBy: "framework" }],
      ["APP_URL", { isSet: true, source: "environment", value: "https://shop.example", readBy: "framework" }],
      ["APP_ENV", { isSet: false, source: "default", readBy: "framework" }],
      ["CORS_ORIGINS", { isSet: false, source: "default", readBy: "framework" }],
      ["DATABASE_URL", { isSet: true, source: "environment", readBy: "app.js:11:13" }],
      ["GREETING", { isSet: true, source: ".env", value: "good day", readBy: "framework" }],
      ["PORT", { isSet: false, source: "default", readBy: "framework" }],
      ["REGION", { isSet: true, source: "environment", value: "north", readBy: "app.js:9:27" }],
    ];
    for (const [name, row] of rows) expect(found.get(name), name).to.deep.equal(row);
    expect(found.has("UNREAD")).to.equal(false);
    expect(found.has("PATH")).to.equal(false);
  });

  it("prints them as a table", async () => {
    using folder = new ApplicationFolder({ "app.js": APP });

    const { stdout } = await runBin(["config"], { cwd: folder.path, env: ENV });

    expect(stdout).to.match(/^VARIABLE +SOURCE +VALUE +READ BY\n/);
    expect(stdout).to.match(/^ADMIN_CODE +environment +\(set, not shown\) +framework$/m);
    expect(stdout).to.match(/^REGION +environment +north +app\.js:9:27$/m);
  });
});
