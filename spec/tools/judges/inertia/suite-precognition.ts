/**
 * Lets the framework's own precognition respond for the routes of the suite that check fields in advance. The rules are those of the route:
 * it runs with the fields that the framework has read, its messages become the issues of a schema, and the framework keeps those that the
 * request names.
 */
import type { Context, Middleware } from "@stagecraft/framework";
import { precognitive } from "@stagecraft/framework/pages";
import { UploadedFile } from "@stagecraft/framework/uploads";
import type { Reply } from "../../../../lib/http/response/reply.js";
import type { Next } from "../../../../lib/http/middleware.js";

interface Issue {
  readonly message: string;
  readonly path: readonly string[];
}

/** A route of the suite, which returns its reply. */
export type SuiteRoute = (ctx: Context) => Promise<unknown>;

/** What a route of the suite says of fields that do not fit: texts, or lists of texts. */
type Messages = Readonly<Record<string, string | readonly string[]>>;

export class SuitePrecognition implements Middleware {
  constructor(private readonly respond: SuiteRoute) {}

  handle(ctx: Context, next: Next): unknown {
    const validate = async (value: unknown): Promise<{ readonly issues: readonly Issue[] }> => {
      // The parsers of the suite's server leave a body alone that was read, and a form that is none.
      Object.assign(ctx.req, { body: value ?? {}, files: filesOf(value), _body: true });
      ctx.req.headers["content-type"] = "application/json";
      delete ctx.req.headers["precognition-validate-only"];
      return { issues: issuesOf(messagesOf(await this.respond(ctx))) };
    };
    return precognitive({ "~standard": { version: 1, vendor: "suite", validate } }).handle(ctx, next);
  }
}

/** The files of a form by their fields. */
function filesOf(value: unknown): Readonly<Record<string, UploadedFile>> {
  const fields = Object.entries((value ?? {}) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    fields.flatMap(([name, each]) => {
      const file: unknown = Array.isArray(each) ? each[0] : each;
      return file instanceof UploadedFile ? [[name, file]] : [];
    }),
  );
}

function messagesOf(reply: unknown): Messages {
  const { body } = reply as Reply & { readonly body?: unknown };
  const text = Buffer.isBuffer(body) ? body.toString() : "";
  if (!text.startsWith("{")) return {};
  return (JSON.parse(text) as { readonly errors?: Messages }).errors ?? {};
}

function issuesOf(messages: Messages): readonly Issue[] {
  return Object.entries(messages).flatMap(([field, texts]) =>
    [texts].flat().map((message) => ({ message, path: field.split(".") })),
  );
}
