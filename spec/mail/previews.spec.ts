/** The preview page over a socket, and the search for leaks in an application that sends mails. */

import { expect } from "chai";
import {
  Application,
  Controller,
  Module,
  Post,
  provide,
  SecurityHeaders,
  type Context,
} from "../../lib/entries/main.js";
import { html, Mail, Mailer, MemoryMailer } from "../../lib/entries/mail.js";
import { mailPreviews } from "../../lib/entries/mail-previews.js";
import { expectNoLeak, testApp } from "../../lib/entries/testing.js";
import { withObservability } from "../support/with-observability.js";

class Welcome extends Mail<{ name: string; link: string }> {
  subject() {
    return `Welcome, ${this.data.name}`;
  }

  text() {
    return `Hello ${this.data.name}, ${this.data.link}`;
  }

  override html() {
    return html`<p style="color: red">Hello ${this.data.name}</p>
      <img src="cid:logo" alt="" /><a href="${this.data.link}">Go</a>`;
  }

  override attachments() {
    return [{ name: "logo.png", type: "image/png", contentId: "logo", content: Buffer.from("png") }];
  }

  static readonly previews = {
    "a new member": () => new Welcome({ name: "Ada", link: "https://example.org/" }),
    "a name with markup": () => new Welcome({ name: "<script>alert(1)</script>", link: "https://example.org/" }),
  };
}

class Plain extends Mail {
  subject() {
    return "Plain";
  }

  text() {
    return "Only text";
  }
}

@Controller()
class SignUp {
  constructor(private readonly mailer: Mailer) {}

  @Post("/sign-up")
  async signUp(ctx: Context) {
    const { email, name } = (await ctx.json()) as { readonly email: string; readonly name: string };
    const mail = new Welcome({ name, link: "https://example.org/" }).to(
      { name, address: email },
      { bcc: "archive@example.org" },
    );
    return { id: (await this.mailer.send(mail)).messageId };
  }
}

function application(controllers = mailPreviews("/dev/mails", [Welcome, Plain], "debug")) {
  @Module({
    controllers: [SignUp, ...controllers],
    providers: [provide(Mailer).useFactory(() => new MemoryMailer({ from: "shop@example.org" }))],
  })
  class Shop {}

  return withObservability(Application.create(Shop)).securityHeaders(
    new SecurityHeaders().withCsp("default-src 'self'"),
  );
}

const json = { name: "Eve", email: "eve@example.org" };

describe("the preview page", () => {
  it("links the URLs of the text, and nothing else", async () => {
    await using app = await testApp(application());

    const page = await (await app.get("/dev/mails/preview/Welcome/1")).text();

    expect(page).to.include(
      '<pre tabindex="0">Hello &lt;script&gt;alert(1)&lt;/script&gt;, <a href="https://example.org/">https://example.org/</a></pre>',
    );
  });

  it("lists each class with its previews, and the mails of this run", async () => {
    await using app = await testApp(application());
    expect(await (await app.get("/dev/mails")).text()).to.include("No mail was sent or queued yet");

    const { id } = (await (await app.post("/sign-up", { json })).json()) as { readonly id: string };

    const page = await (await app.get("/dev/mails")).text();
    expect(page).to.include('<a href="/dev/mails/preview/Welcome/0">a new member</a>');
    expect(page).to.include("Plain: no static previews");
    expect(page).to.include(`<a href="/dev/mails/sent/${encodeURIComponent(id.slice(1, -1))}">Welcome, Eve</a>`);
    expect(page).to.include("<td>eve@example.org, archive@example.org</td>").and.include("<td>sent</td>");
  });

  it("shows headers, HTML, text and source of a preview", async () => {
    await using app = await testApp(application());

    const page = await (await app.get("/dev/mails/preview/Welcome/0")).text();

    expect(page).to.include("<td>Recipient &lt;recipient@example.org&gt;</td>");
    expect(page).to.include('src="/dev/mails/preview/Welcome/0/html"></iframe>').and.include('<iframe sandbox=""');
    expect(page).to.include('Hello Ada, <a href="https://example.org/">https://example.org/</a></pre>');
    expect(page).to.include("Subject: Welcome, Ada\r\n").and.include("logo.png (image/png, 3 bytes)");
  });

  it("shows a mail of this run with its hidden recipients", async () => {
    await using app = await testApp(application());
    const { id } = (await (await app.post("/sign-up", { json })).json()) as { readonly id: string };

    const page = await (await app.get(`/dev/mails/sent/${encodeURIComponent(id.slice(1, -1))}`)).text();

    expect(page).to.match(/<th scope="row">Bcc<\/th>\s*<td>archive@example\.org<\/td>/);
    const frame = await app.get(`/dev/mails/sent/${encodeURIComponent(id.slice(1, -1))}/html`);
    expect(await frame.text()).to.include("Hello Eve");
  });

  it("escapes the mail in the page, and shows its HTML in a frame without scripts and without loading", async () => {
    await using app = await testApp(application());

    const page = await app.get("/dev/mails/preview/Welcome/1");
    const frame = await app.get("/dev/mails/preview/Welcome/1/html");

    expect(await page.text()).to.not.include("<script");
    expect(page.headers.get("content-security-policy")).to.match(
      /^default-src 'none'; style-src 'sha256-[^']+'; frame-src 'self'/,
    );
    expect(page.headers.get("x-frame-options")).to.equal("DENY");
    expect(frame.headers.get("content-security-policy")).to.match(/^sandbox; default-src 'none'; .*img-src data:/);
    expect(frame.headers.get("x-frame-options")).to.equal("SAMEORIGIN");
    expect(await frame.text())
      .to.include('src="data:image/png;base64,cG5n"')
      .and.not.include("<script");
    for (const { headers } of [page, frame]) expect(headers.get("cache-control")).to.equal("no-store");
  });

  it("responds with 404 for an unknown mail", async () => {
    await using app = await testApp(application());

    for (const path of [
      "preview/Welcome/2",
      "preview/Other/0",
      "preview/Plain/0",
      "preview/Welcome/x",
      "sent/none",
      "sent/none/html",
    ])
      expect(await app.get(`/dev/mails/${path}`), path).to.have.property("status", 404);
  });

  it("does not exist in a release build", async () => {
    expect(mailPreviews("/dev/mails", [Welcome], "release")).to.deep.equal([]);
    await using app = await testApp(application([]));

    expect(await app.get("/dev/mails")).to.have.property("status", 404);
  });
});

describe("an application that sends mails", () => {
  it("logs no name, address and content of a mail", async () => {
    const canary = "canary4711mail";
    await using app = await testApp(application([]));
    await app.post("/sign-up", { json: { name: canary, email: `${canary}@example.org` } });
    // Each of these fails in another place.
    await app.post("/sign-up", { json: { name: `${canary}\r\nBcc: a@example.org`, email: `${canary}@example.org` } });
    const refused = await app.post("/sign-up", { json: { name: "a", email: `${canary}@@example.org` } });

    expect(refused.status).to.equal(422);
    expect(await refused.text()).to.not.include(canary);
    await expectNoLeak(app, canary);
    expect(app.logs.lines().filter((line) => line.includes("mail sent"))).to.have.length.above(0);
  });
});
