/** The bytes of a message, and the parts that are refused before a transport sees them. */

import { expect } from "chai";
import * as fc from "fast-check";
import { html, Mail, type MailAttachment, MemoryMailer } from "../../lib/entries/mail.js";
import { encodeQuotedPrintable } from "../../lib/mail/quoted-printable.js";
import { rejectionOf } from "../support/rejection-of.js";

interface Parts {
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly headers?: Record<string, string>;
  readonly files?: readonly MailAttachment[];
}

class Sample extends Mail<Parts> {
  subject() {
    return this.data.subject ?? "A subject";
  }

  text() {
    return this.data.text ?? "A text.";
  }

  override html() {
    return html`<p>${this.data.html ?? "A text."}</p>`;
  }

  override headers() {
    return this.data.headers ?? {};
  }

  override attachments() {
    return this.data.files ?? [];
  }
}

class Plain extends Mail {
  subject() {
    return "Plain";
  }

  text() {
    return "Only text.\n";
  }
}

const FROM = "shop@example.org";
const TO = "ada@example.org";

async function bytesOf(mail: Mail<unknown>, options = {}): Promise<string> {
  const mailer = new MemoryMailer({ from: FROM });
  await mailer.send(mail.to(TO, options));
  return Buffer.from(mailer.sent[0]?.bytes ?? []).toString("latin1");
}

async function codeOf(mail: Mail<unknown>, options: { maxBytes?: number } = {}): Promise<unknown> {
  const mailer = new MemoryMailer({ from: FROM, ...options });
  const { code } = (await rejectionOf(mailer.send(mail.to(TO)))) as Error & { code?: unknown };
  expect(mailer.sent).to.deep.equal([]);
  return code;
}

const decode = (text: string): string => {
  const bytes = text
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
};

async function* stream() {
  yield Buffer.from("from a ");
  yield Buffer.from("stream");
}

async function checkName(name: string): Promise<void> {
  if (Buffer.byteLength(name) > 200) return;
  const text = await bytesOf(new Sample({ files: [{ name, content: Buffer.from("a") }] }));
  for (const line of text.split("\r\n")) expect(line).to.match(/^[ -~]{0,998}$/);
  const [, plain, encoded] = /filename="([^"]+)"|filename\*=UTF-8''(\S+)/.exec(text) ?? [];
  expect(plain ?? decodeURIComponent(encoded ?? "")).to.equal(name.toWellFormed());
  expect(text).to.match(/ name="[\w .()-]*"/);
}

describe("the message of a mail", () => {
  it("is plain text without HTML", async () => {
    const [head = "", ...body] = (await bytesOf(new Plain())).split("\r\n\r\n");

    expect(head.split("\r\n").slice(2)).to.deep.equal([
      `From: ${FROM}`,
      `To: ${TO}`,
      "Subject: Plain",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: quoted-printable",
    ]);
    expect(body).to.deep.equal(["Only text.\r\n"]);
  });

  it("has the text before the HTML, and files after both", async () => {
    const files = [{ name: "a.txt", type: "text/plain", content: Buffer.from("a") }];

    const types = (await bytesOf(new Sample({ files }))).match(/^Content-Type: [^;\r]+/gm);

    expect(types).to.deep.equal([
      "Content-Type: multipart/mixed",
      "Content-Type: multipart/alternative",
      "Content-Type: text/plain",
      "Content-Type: text/html",
      "Content-Type: text/plain",
    ]);
  });

  it("has an image of the HTML as a part beside the HTML", async () => {
    const files = [{ name: "logo.png", type: "image/png", contentId: "logo", content: Buffer.from("png") }];

    const text = await bytesOf(new Sample({ files }));

    expect(text).to.include("multipart/related").and.include("Content-ID: <logo>").and.not.include("multipart/mixed");
  });

  it("is ASCII, with CRLF and with lines of at most 998 bytes", async () => {
    const name = "Käufer \u{1F600} ".repeat(12);
    const files = [{ name: "Ü".repeat(90), content: Buffer.alloc(200) }];
    const sample = new Sample({ subject: "ä".repeat(400), text: "ö".repeat(5000), html: "x".repeat(5000), files });

    const text = await bytesOf(sample, {
      replyTo: { name, address: TO },
      cc: Array.from({ length: 50 }, () => ({ name, address: TO })),
    });

    expect(/^[\r\n\x20-\x7e]*$/.test(text)).to.equal(true);
    expect(/[^\r]\n|\r[^\n]/.test(text)).to.equal(false);
    expect(Math.max(...text.split("\r\n").map(({ length }) => length))).to.be.most(998);
  });

  it("encodes a quote in the name of an attachment", async () => {
    const text = await bytesOf(new Sample({ files: [{ name: 'a"b.txt', content: Buffer.from("a") }] }));

    expect(text).to.include("filename*=UTF-8''a%22b.txt");
  });

  it("names an attachment for programs that read no other form, also with a long name", async () => {
    for (const [name, plain] of [
      ["Angebot für Käufer.pdf", "Angebot fur Kaufer.pdf"],
      ["見積書.pdf", "___.pdf"],
      ["a".repeat(190) + ".pdf", "a".repeat(190) + ".pdf"],
    ] as const) {
      const text = await bytesOf(new Sample({ files: [{ name, type: "application/pdf", content: Buffer.from("a") }] }));
      expect(text).to.include(`Content-Type: application/pdf;\r\n name="${plain}"\r\n`);
    }
  });

  it("names an attachment in any script in lines of ASCII", async () => {
    const letters = fc.constantFrom(
      "a",
      "é",
      "e\u0301",
      "ﷺ",
      "ﬃ",
      "見",
      "🎉",
      "👩‍👩‍👧",
      "ع",
      "\u202e",
      "\uD83D",
      "'",
      '"',
      "%",
      "=?",
    );
    const names = fc.array(letters, { minLength: 1, maxLength: 66 }).map((all) => all.join(""));
    await checkName("ﷺ".repeat(66));
    await fc.assert(fc.asyncProperty(names, checkName), { numRuns: 200 });
  });

  it("writes the URLs of List-Unsubscribe as they are", async () => {
    const url = `https://shop.example/unsubscribe?token==?UTF-8?B?eA==?=${"a".repeat(200)}`;
    const headers = {
      "List-Unsubscribe": `<${url}>, <mailto:leave@shop.example?subject=leave>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "X-Note": "für alle",
    };

    const text = await bytesOf(new Sample({ headers }));

    expect(text).to.include(`List-Unsubscribe: <${url}>,\r\n <mailto:leave@shop.example?subject=leave>\r\n`);
    expect(text).to.include("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n").and.include("X-Note: =?UTF-8?B?");
    expect(await codeOf(new Sample({ headers: { "List-Unsubscribe": "<https://shop.example/für>" } }))).to.equal(
      "E_MAIL_HEADER",
    );
  });
});

describe("a mail", function () {
  this.timeout(60_000);
  for (const bad of ["a\r\nBcc: eve@example.org", "a\nb", "a\rb", "a\u0000b", "a\u001bb", "a\u2028b"])
    it(`is refused with ${JSON.stringify(bad)} in its subject, a header or the name of a file`, async () => {
      expect(await codeOf(new Sample({ subject: bad }))).to.equal("E_MAIL_HEADER");
      expect(await codeOf(new Sample({ headers: { "X-A": bad } }))).to.equal("E_MAIL_HEADER");
      expect(await codeOf(new Sample({ headers: { [bad]: "a" } }))).to.equal("E_MAIL_HEADER");
      const files = [{ name: bad, content: Buffer.from("a") }];
      expect(await codeOf(new Sample({ files }))).to.equal("E_MAIL_ATTACHMENT");
    });

  it("is refused with a header that the mailer writes", async () => {
    for (const name of [
      "Bcc",
      "from",
      "Subject",
      "MESSAGE-ID",
      "Content-Type",
      "Content-Anything",
      "Resent-To",
      "Received",
    ])
      expect(await codeOf(new Sample({ headers: { [name]: "a" } })), name).to.equal("E_MAIL_HEADER");
  });

  it("is refused beyond the limits of its parts", async () => {
    expect(await codeOf(new Sample({ subject: "x".repeat(501) }))).to.equal("E_MAIL_HEADER");
    expect(await codeOf(new Sample({ headers: { "X-A": "x".repeat(901) } }))).to.equal("E_MAIL_HEADER");
    const headers = Object.fromEntries(Array.from({ length: 31 }, (_each, at) => [`X-${at}`, "a"]));
    expect(await codeOf(new Sample({ headers }))).to.equal("E_MAIL_HEADER");
    expect(await codeOf(new Sample({ text: "x".repeat(1_048_577) }))).to.equal("E_MAIL_SIZE");
    expect(await codeOf(new Sample({ html: "x".repeat(1_048_577) }))).to.equal("E_MAIL_SIZE");
    expect(await codeOf(new Sample({ text: "x".repeat(60), html: "x".repeat(60) }), { maxBytes: 100 })).to.equal(
      "E_MAIL_SIZE",
    );
    const files = Array.from({ length: 51 }, () => ({ name: "a", content: Buffer.from("a") }));
    expect(await codeOf(new Sample({ files }))).to.equal("E_MAIL_ATTACHMENT");
  });

  it("is refused with HTML that is a plain text", async () => {
    class Raw extends Plain {
      // The types forbid it.
      override html = () => "<p>raw</p>" as never;
    }

    expect(await codeOf(new Raw())).to.equal("E_MAIL_HTML");
  });

  it("is refused with an attachment that is a path, a URL or a text", async () => {
    for (const fields of [
      { path: "/etc/passwd" },
      { href: "http://127.0.0.1/" },
      { content: "text" },
      { content: { path: "/etc/passwd" } },
    ])
      // The types forbid it.
      expect(await codeOf(new Sample({ files: [{ name: "a", ...fields } as never] }))).to.equal("E_MAIL_ATTACHMENT");
  });

  it("is refused with an attachment of a storage, if the mailer has no storage", async () => {
    expect(await codeOf(new Sample({ files: [{ name: "a", storageKey: "a" }] }))).to.equal("E_MAIL_ATTACHMENT");
  });

  it("is refused with a stream beyond the limit, and the stream is closed", async () => {
    let isClosed = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        isClosed = true;
      }
    }

    expect(await codeOf(new Sample({ files: [{ name: "a", content: endless() }] }))).to.equal("E_MAIL_SIZE");
    expect(isClosed).to.equal(true);
  });
});

describe("attachments of a mail", () => {
  it("come from a stream and from the storage of the mailer", async () => {
    const keys: string[] = [];
    const storage = {
      get(key: string) {
        keys.push(key);
        return Promise.resolve({ body: stream() });
      },
    };
    const mailer = new MemoryMailer({ from: FROM, storage });
    const files = [
      { name: "a", content: stream() },
      { name: "b", storageKey: "invoices/7.pdf" },
    ];

    await mailer.send(new Sample({ files }).to(TO));

    expect(keys).to.deep.equal(["invoices/7.pdf"]);
    expect(mailer.sent[0]?.attachments.map(({ content }) => Buffer.from(content).toString())).to.deep.equal([
      "from a stream",
      "from a stream",
    ]);
  });
});

describe("quoted-printable", function () {
  this.timeout(60_000);
  it("decodes to the same text, and has lines of at most 76 characters without a space at their end", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from("a =.\t\nä\u{1F600}")), maxLength: 400 }), (text) => {
        const encoded = encodeQuotedPrintable(text);
        expect(decode(encoded)).to.equal(text.replaceAll("\n", "\r\n"));
        for (const line of encoded.split("\r\n")) expect(line).to.match(/^$|^.{0,75}[^ \t]$/);
      }),
    );
  });
});
