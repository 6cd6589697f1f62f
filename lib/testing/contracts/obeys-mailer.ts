/**
 * The contract of every `Mailer`, as a suite of promises that any transport passes. Its mails go to addresses of `example.org`. The
 * mailer has its default limits.
 *
 * @example
 * it("obeys the contract of a mailer", () => obeysMailer(mailer, { arrived: () => server.messages }));
 */
import { html } from "../../mail/html.js";
import { Mail } from "../../mail/mail.js";
import type { Mailer } from "../../mail/mailer.js";
import { checkPromises, type ContractPromise, getCode } from "./contract.js";

export interface MailerContractOptions {
  /** The messages that have arrived, the oldest first: the bytes as text. */
  readonly arrived: () => readonly string[] | Promise<readonly string[]>;
}

interface MailTrial {
  readonly mailer: Mailer;
  /** The last message that has arrived. */
  readonly last: () => Promise<string>;
  readonly count: () => Promise<number>;
  readonly equal: (actual: unknown, expected: unknown, what: string) => void;
}

class ContractMail extends Mail<{
  subject?: string;
  text?: string;
  file?: Uint8Array;
  headers?: Record<string, string>;
}> {
  subject(): string {
    return this.data.subject ?? "A subject";
  }

  text(): string {
    return this.data.text ?? "A text.\n";
  }

  override html() {
    return html`<p>${this.data.text ?? "A text."}</p>`;
  }

  override headers(): Record<string, string> {
    return this.data.headers ?? {};
  }

  override attachments() {
    return this.data.file === undefined ? [] : [{ name: "file.bin", content: this.data.file }];
  }
}

const TO = "ada@example.org";
const FROM = "sender@example.org";

/** @throws AssertionError listing every promise that the mailer breaks. The mailer is started, and stays so. */
export async function obeysMailer(mailer: Mailer, options: MailerContractOptions): Promise<void> {
  const verdict = `${mailer.constructor.name} does not obey the contract of a mailer`;
  const last = async (): Promise<string> => (await options.arrived()).at(-1) ?? "";
  const count = async (): Promise<number> => (await options.arrived()).length;
  await checkPromises(verdict, PROMISES, (keeps, { equal }) => keeps({ mailer, last, count, equal }));
}

const PROMISES: readonly ContractPromise<MailTrial>[] = [
  [
    "a mail arrives once, with its Message-ID",
    async ({ mailer, last, count, equal }) => {
      const before = await count();
      const { messageId, ...result } = await mailer.send(new ContractMail({}).to(TO, { from: FROM }));
      equal(result, { accepted: [TO], rejected: [], unknown: [] }, "the result");
      equal(await count(), before + 1, "the number of messages");
      equal(readHeader(await last(), "Message-ID"), messageId, "the header Message-ID");
      equal(/^<[\w-]{24}@example\.org>$/.test(messageId), true, "the form of the Message-ID");
    },
  ],
  [
    "each recipient is in one list, and hidden recipients are in no header",
    async ({ mailer, last, equal }) => {
      const given = {
        from: FROM,
        cc: { name: "Grace", address: "grace@example.org" },
        bcc: ["hidden@example.org", TO],
      };
      const { accepted } = await mailer.send(new ContractMail({}).to([TO], given));
      equal([...accepted].toSorted(), [TO, "grace@example.org", "hidden@example.org"], "the accepted recipients");
      equal((await last()).includes("hidden"), false, "whether the message names the hidden recipient");
      equal(readHeader(await last(), "Cc"), '"Grace" <grace@example.org>', "the header Cc");
    },
  ],
  [
    "another attempt with the same mail has the same Message-ID, another mail has another",
    async ({ mailer, equal }) => {
      const mail = new ContractMail({}).to(TO, { from: FROM });
      const { messageId } = await mailer.send(mail);
      equal((await mailer.send(mail)).messageId, messageId, "the Message-ID of the second attempt");
      const other = await mailer.send(new ContractMail({}).to(TO, { from: FROM }));
      equal(other.messageId === messageId, false, "whether another mail has the same Message-ID");
    },
  ],
  [
    "text of any script, long lines and lines of a dot arrive unchanged",
    async ({ mailer, last, equal }) => {
      const text = `Grüße \u{1F600} = ${"x".repeat(2000)}\n.\n..\n \nFrom here\n`;
      await mailer.send(new ContractMail({ subject: "Grüße \u{1F600}", text }).to(TO, { from: FROM }));
      equal(readTextPart(await last()), text, "the text");
      equal(decodeWords(readHeader(await last(), "Subject")), "Grüße \u{1F600}", "the subject");
    },
  ],
  [
    "an attachment arrives byte by byte",
    async ({ mailer, last, equal }) => {
      const file = Uint8Array.from({ length: 1000 }, (_each, at) => at % 256);
      await mailer.send(new ContractMail({ file }).to(TO, { from: FROM }));
      const [, body = ""] = /base64\r\n[^]*?\r\n\r\n([^]*?)\r\n--/.exec(await last()) ?? [];
      equal(Buffer.from(body, "base64").equals(file), true, "whether the bytes are the same");
    },
  ],
  [
    "a control character in a subject, a header or an address is refused, and no mail arrives",
    async ({ mailer, count, equal }) => {
      const before = await count();
      for (const bad of ["a\r\nBcc: evil@example.org", "a\nb", "a\rb", "a\u0000b"]) {
        const mails = [new ContractMail({ subject: bad }), new ContractMail({ headers: { "X-Note": bad } })];
        for (const mail of mails)
          equal(await getCode(() => mailer.send(mail.to(TO, { from: FROM }))), "E_MAIL_HEADER", "the code");
        const addresses = [bad, `ada@example.org${bad.slice(1)}`, { name: bad, address: TO }];
        for (const to of addresses)
          equal(
            await getCode(() => mailer.send(new ContractMail({}).to(to, { from: FROM }))),
            "E_MAIL_ADDRESS",
            "the code",
          );
      }
      equal((await count()) - before, 0, "the number of messages");
    },
  ],
  [
    "a body above 1 MiB, and attachments above the limit, are refused",
    async ({ mailer, count, equal }) => {
      const before = await count();
      for (const data of [{ text: "x".repeat(1_048_577) }, { file: new Uint8Array(10_485_761) }]) {
        const send = () => mailer.send(new ContractMail(data).to(TO, { from: FROM }));
        equal(await getCode(send), "E_MAIL_SIZE", "the code");
      }
      equal((await count()) - before, 0, "the number of messages");
    },
  ],
];

/** The value of a header, unfolded. */
function readHeader(message: string, name: string): string {
  const head = message.slice(0, message.indexOf("\r\n\r\n")).replaceAll(/\r\n[ \t]/g, " ");
  return (
    head
      .split("\r\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? ""
  );
}

/** Encoded words of UTF-8 in base64; the space between two of them is none. */
function decodeWords(text: string): string {
  return text.replaceAll(/=\?UTF-8\?B\?([^?]*)\?=(?:\s+(?==\?))?/g, (_word, data: string) =>
    Buffer.from(data, "base64").toString(),
  );
}

/** The first part, decoded from quoted-printable. */
function readTextPart(message: string): string {
  const [, body = ""] = /text\/plain[^]*?\r\n\r\n([^]*?)\r\n--/.exec(message) ?? [];
  const bytes = body
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_code, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString().replaceAll("\r\n", "\n");
}
