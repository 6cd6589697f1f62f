/** What a client says about the host of the application, in the flows that make URLs or compare them. */
import { AppConfig, Clock, provide } from "@stagecraft/framework";
import { Mailer, type MemoryMailer } from "@stagecraft/framework/mail";
import { FakeClock, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { until } from "../support/until.js";
import { account, addPerson, buildAccounts, mailsOf, PASSWORD, startAccounts } from "./account-application.js";

const HOSTILE: readonly (readonly [name: string, headers: string])[] = [
  ["Host", "Host: evil.example\r\n"],
  ["X-Forwarded-Host", "Host: shop.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: http\r\n"],
  ["Forwarded", "Host: shop.example\r\nForwarded: host=evil.example;proto=http\r\n"],
];

const startShop = () =>
  testApp(
    buildAccounts().config(new AppConfig({ url: "https://shop.example" })),
    provide(Clock).useValue(new FakeClock()),
  );

function toRequest(path: string, headers: string, body: object): string {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\n${headers}Content-Type: application/json\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`;
}

describe("a client that lies about the host", () => {
  for (const [name, headers] of HOSTILE) {
    it(`by ${name} gets no link of its choice into a mail`, async () => {
      await using app = await startShop();
      await addPerson(app, "ada");
      const flows = [account.forgot.url(), account.link.url()];
      for (const path of flows) {
        const response = await app.raw(toRequest(path, headers, { email: "ada@shop.example" }));
        expect(String(response)).to.match(/^HTTP\/1\.1 202 /);
      }
      const signUp = { email: "new@shop.example", password: PASSWORD };
      await app.raw(toRequest(account.signUp.url(), headers, signUp));

      const mailer = app.resolve(Mailer) as MemoryMailer;
      await until(() => mailer.sent.length === 3);
      for (const { text } of mailer.sent) {
        expect(text).to.include("https://shop.example/account/");
        expect(text).not.to.include("evil.example");
      }
    });

    it(`by ${name} is led to a path of the application, and not to a host`, async () => {
      await using app = await startShop();
      const head = `GET ${account.show.url()} HTTP/1.1\r\n${headers}Accept: text/html\r\nConnection: close\r\n\r\n`;

      const response = String(await app.raw(head));

      expect(response).to.match(/^HTTP\/1\.1 303 /);
      expect(response).to.match(/\r\nlocation: \/account\/sign-in\r\n/i);
    });
  }

  it("by X-Forwarded-Host makes no origin of its own that of the application", async () => {
    await using app = await startShop();
    await addPerson(app, "ada");
    const headers = "Host: shop.example\r\nX-Forwarded-Host: evil.example\r\nOrigin: https://evil.example\r\n";
    const path = account.signIn.url();

    const response = String(await app.raw(toRequest(path, headers, { email: "ada@shop.example", password: PASSWORD })));

    expect(response).to.match(/^HTTP\/1\.1 403 /);
    expect(response).not.to.match(/\r\nset-cookie:/i);
  });
});

describe("a link of 100 kB", () => {
  for (const [what, grow] of [
    ["a long id", (link: string) => link.replace("?", `${"a".repeat(100_000)}?`)],
    ["a long signature", (link: string) => link + "a".repeat(100_000)],
  ] as const)
    it(`with ${what} is refused, and the link still works`, async () => {
      await using app = await startAccounts();
      await addPerson(app, "ada");
      await app.post(account.forgot.url(), { json: { email: "ada@shop.example" } });
      const [mail] = await mailsOf(app, 1);
      const link = mail?.link ?? "";

      expect((await app.get(grow(link))).status).to.equal(431);
      expect((await app.post(grow(link), { json: { password: "another fine password" } })).status).to.equal(431);
      expect(await (await app.post(link, { json: { password: "another fine password" } })).json()).to.include({
        kind: "changed",
      });
    });
});
