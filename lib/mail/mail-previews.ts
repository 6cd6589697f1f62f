/**
 * The preview page: every mail class with its examples as HTML, text, headers and source, and the mails of this run. It is a list of
 * controllers for a module that provides `Mailer`. In a release build the list is empty, so the page does not exist.
 *
 * The HTML of a mail is shown in a sandboxed frame with a separate policy: it runs no script and loads no resource.
 *
 * @example
 * @Module({
 *   controllers: [AccountsController, ...mailPreviews("/dev/mails", [Welcome, PasswordReset])],
 *   providers: [provide(Mailer).useFactory(() => new MemoryMailer({ from: "shop@example.org" }))],
 * })
 * class ShopModule {}
 */
import type { Class } from "../runtime/class.js";
import { NotFoundError } from "../errors/framework-error.js";
import type { Context } from "../http/request/context.js";
import { Reply } from "../http/response/reply.js";
import { Controller } from "../routing/controller.js";
import { Get } from "../endpoints/endpoint.js";
import { type Profile, profile } from "../runtime/profile.js";
import type { MailMessage } from "./mail-message.js";
import type { MailRecord } from "./mail-records.js";
import type { MailClass } from "./mail.js";
import { Mailer } from "./mailer.js";
import { renderFrameDocument, FRAME_POLICY, renderIndexPage, renderMailPage, PAGE_POLICY } from "./preview-page.js";

const MAX_RECORDED = 50;
const RECIPIENT = { name: "Recipient", address: "recipient@example.org" };
const SENDER = { name: "Sender", address: "sender@example.org" };

/**
 * @param path of the page, for example `/dev/mails`
 * @param mails the classes to show; the previews of each are its static member `previews`
 */
export function mailPreviews(path: string, mails: readonly MailClass[], build: Profile = profile): readonly Class[] {
  if (build === "release") return [];

  @Controller(path)
  class MailPreviews {
    private readonly shown: ShownMails;

    constructor(mailer: Mailer) {
      this.shown = new ShownMails(mails, mailer);
    }

    @Get("/")
    index(): Reply {
      return createPage(renderIndexPage(path, mails, this.shown.recorded));
    }

    @Get("/preview/{mail}/{example}")
    async example({ params, signal }: Context<"mail" | "example">): Promise<Reply> {
      const base = `${path}/preview/${encodeURIComponent(params.mail)}/${encodeURIComponent(params.example)}`;
      return createPage(renderMailPage(path, base, await this.shown.example(params.mail, params.example, signal)));
    }

    @Get("/preview/{mail}/{example}/html")
    async exampleFrame({ params, signal }: Context<"mail" | "example">): Promise<Reply> {
      return createFrame(await this.shown.example(params.mail, params.example, signal));
    }

    @Get("/sent/{id}")
    sent({ params: { id } }: Context<"id">): Reply {
      return createPage(renderMailPage(path, `${path}/sent/${encodeURIComponent(id)}`, this.shown.sent(id)));
    }

    @Get("/sent/{id}/html")
    sentFrame({ params }: Context<"id">): Reply {
      return createFrame(this.shown.sent(params.id));
    }
  }

  return [MailPreviews];
}

/** The mails that the page can show: the examples of the classes, and the mails of this run. */
class ShownMails {
  constructor(
    private readonly mails: readonly MailClass[],
    private readonly mailer: Mailer,
  ) {
    mailer.record(MAX_RECORDED);
  }

  get recorded(): readonly MailRecord[] {
    return this.mailer.recorded?.all ?? [];
  }

  example(name: string, example: string, signal: AbortSignal): Promise<MailMessage> {
    const previews = Object.entries(this.mails.find((each) => each.name === name)?.previews ?? {});
    const make = previews[Number(example)]?.[1];
    if (make === undefined) throw new NotFoundError("there is no such preview");
    const mail = make();
    const from = mail.from?.() ?? this.mailer.sender ?? SENDER;
    return this.mailer.preview(mail.to(RECIPIENT, { from }), signal);
  }

  sent(id: string): MailRecord {
    const found = this.recorded.findLast(({ messageId }) => messageId === `<${id}>`);
    if (found === undefined) throw new NotFoundError("there is no such mail in this run");
    return found;
  }
}

function createPage(body: string): Reply {
  return Reply.html(body).header("Content-Security-Policy", PAGE_POLICY).header("Cache-Control", "no-store");
}

/** The stage of security headers leaves the two headers alone, so that the page may show the frame. */
function createFrame(message: MailMessage): Reply {
  return Reply.html(renderFrameDocument(message))
    .header("Content-Security-Policy", FRAME_POLICY)
    .header("X-Frame-Options", "SAMEORIGIN")
    .header("Cache-Control", "no-store");
}
