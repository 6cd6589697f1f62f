/**
 * One language of an application: its tag, its direction and its messages. `languages.of(ctx)` has that of a request, and `languages.in(tag)`
 * that of a mail or a job.
 *
 * A text is plain text, and a page or a mail escapes it like any other text. Nothing is thrown for a message that is missing, or that lacks
 * a value: the log has one warning for each.
 *
 * @example
 * const { t } = await this.languages.of(ctx);
 * return Reply.text(t("links-count", { count: 3 }));
 */
import { hash } from "node:crypto";
import { tracing } from "../tracing/tracing.js";
import type { CatalogEntry } from "./catalog-entries.js";
import type { FluentPackage } from "./fluent-package.js";
import { getDirection } from "./language-tag.js";

const log = tracing.target("framework::languages");

/** The values of a message. A date is formatted in the time zone of the languages, UTC unless set. */
export type MessageValues = Readonly<Record<string, string | number | Date>>;

/**
 * The messages with their values. An application may declare them, and then `t` takes no other: `Languages.describe` writes the declaration.
 *
 * @example
 * declare module "@stagecraft/framework/i18n" {
 *   interface Messages {
 *     "links-title": Record<never, never>;
 *     "links-count": { readonly count: string | number | Date };
 *   }
 * }
 */
// oxlint-disable-next-line typescript/no-empty-object-type, typescript/no-empty-interface
export interface Messages {}

// oxlint-disable-next-line typescript/no-redundant-type-constituents -- an application declares members
type DeclaredMessage = keyof Messages & string;

/** The names of the declared messages; any text while none is declared. */
export type MessageId = [DeclaredMessage] extends [never] ? string : DeclaredMessage;

/** The values that `t` takes for a message: none, or all that it has. */
export type ValuesOf<I extends MessageId> = I extends keyof Messages
  ? keyof Messages[I] extends never
    ? readonly []
    : readonly [values: Messages[I]]
  : readonly [values?: MessageValues];

/** @internal */
type Bundle = InstanceType<FluentPackage["FluentBundle"]>;

/** The pattern of a message, and the bundle of the language that has it. @internal */
export interface Text {
  readonly bundle: Bundle;
  readonly pattern: Parameters<Bundle["formatPattern"]>[0];
}

/** @internal */
export interface LanguageParts {
  readonly tag: string;
  readonly fluent: FluentPackage;
  readonly timeZone: string;
  /** By the name of a message, and of an attribute `name.attribute`. */
  readonly texts: ReadonlyMap<string, Text>;
  /** By the name of a message or term. */
  readonly entries: ReadonlyMap<string, CatalogEntry>;
}

/** Names may come from a client, so the log does not follow each of them. */
const MAX_REPORTED = 1000;
const MAX_SHOWN = 200;

export class Language {
  /** As `lang` of a document has it: `pt-BR`. */
  readonly tag: string;
  /** As `dir` of a document has it. */
  readonly dir: "ltr" | "rtl";
  private readonly reported = new Set<string>();
  private readonly sources = new Map<string, PageMessages>();

  /** @internal */
  constructor(private readonly parts: LanguageParts) {
    this.tag = parts.tag;
    this.dir = getDirection(parts.tag);
  }

  /**
   * The text of a message, or of an attribute: `t("search.placeholder")`. A message that no language has is its name, and a value that is
   * missing is `{$name}`. It may be called without its object.
   */
  readonly t = <I extends MessageId>(id: I, ...[values]: ValuesOf<I>): string =>
    this.find(id, values) ?? this.report(id, "no language has the message");

  /** The text of a message; `undefined` if no language has it. @internal */
  find(id: string, values?: MessageValues): string | undefined {
    const text = this.parts.texts.get(id);
    if (text === undefined) return undefined;
    const errors: Error[] = [];
    const shown = text.bundle.formatPattern(text.pattern, values && this.toVariables(values), errors);
    if (errors.length > 0) this.report(id, errors[0]?.message ?? "");
    return shown;
  }

  /** The messages whose names start with `prefix`, and what they refer to, as the source of a catalog. @internal */
  getPageMessages(prefix: string): PageMessages {
    const known = this.sources.get(prefix);
    if (known !== undefined) return known;
    const { entries } = this.parts;
    const ids = new Set([...entries.keys()].filter((id) => id.startsWith(prefix)));
    for (const id of ids) for (const name of entries.get(id)?.references ?? []) ids.add(name.replace(/\..*/, ""));
    const source = [...ids].map((id) => entries.get(id)?.source ?? "").join("\n");
    const messages = { source, key: `messages:${this.tag}:${hash("sha256", source, "base64url").slice(0, 8)}` };
    this.sources.set(prefix, messages);
    return messages;
  }

  /** A `Date` is formatted in the time zone of the process otherwise; one that is no time would take the whole text with it. */
  private toVariables(values: MessageValues): Parameters<Bundle["formatPattern"]>[1] {
    const { fluent, timeZone } = this.parts;
    const toVariable = (date: Date) =>
      Number.isNaN(date.getTime()) ? undefined : new fluent.FluentDateTime(date.getTime(), { timeZone });
    if (!Object.values(values).some((value) => value instanceof Date)) return values;
    const entries = Object.entries(values).map(([name, value]) => [
      name,
      value instanceof Date ? toVariable(value) : value,
    ]);
    return Object.fromEntries(entries) as Parameters<Bundle["formatPattern"]>[1];
  }

  private report(id: string, reason: string): string {
    const shown = id.slice(0, MAX_SHOWN);
    if (this.reported.size < MAX_REPORTED && !this.reported.has(shown)) {
      this.reported.add(shown);
      log.warn("message not translated", { language: this.tag, id: shown, reason });
    }
    return shown;
  }
}

/** Messages for a front end, and a key that changes with them. @internal */
export interface PageMessages {
  readonly source: string;
  readonly key: string;
}
