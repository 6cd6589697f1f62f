/**
 * The languages of an application: catalogs of messages in the syntax of Fluent, and the choice of a language for a request. The entry point
 * is `@stagecraft/framework/i18n`, and needs the package `@fluent/bundle`. Provide one, and inject the class.
 *
 * The language of a request is that of the parameter `lang` in its query, else that of the session, else that of `Accept-Language`, else
 * the default. A language of the query is stored in the session, where there is one. A request that asks for no text costs nothing.
 *
 * @example
 * provide(Languages).useFactory(() => new Languages({ folder: "locales", default: "en" }));
 *
 * constructor(private readonly languages = inject(Languages)) {}
 * async index(ctx: Context) {
 *   const { t } = await this.languages.of(ctx);
 *   return Reply.text(t("links-title"));
 * }
 */
import { StartupError, type Diagnostic } from "../errors/diagnostic.js";
import { FrameworkError, type FieldError, type ValidationError } from "../errors/framework-error.js";
import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import type { Problem } from "../errors/problem.js";
import { createSetupError } from "../errors/setup-error.js";
import { BoundedMemo } from "../http/request/bounded-memo.js";
import type { Context } from "../http/request/context.js";
import type { Exchange } from "../http/request/exchange.js";
import { getQuery } from "../http/request/request-target.js";
import { Subsystem } from "../lifecycle/subsystem.js";
import { markHandled } from "../runtime/mark-handled.js";
import { DocumentLanguage } from "../stages/pages/document/document-language.js";
import { Session } from "../stages/session/session.js";
import { sessionKey } from "../stages/session/session-value.js";
import { tracing } from "../tracing/tracing.js";
import type { CatalogFault, CatalogFile } from "./catalog-entries.js";
import { readCatalogFiles } from "./catalog-files.js";
import {
  buildCatalogs,
  describeMessages,
  toDiagnostic,
  type Catalogs,
  type CatalogSettings,
  type Gap,
} from "./catalogs.js";
import { loadFluent } from "./fluent-package.js";
import type { Language } from "./language.js";
import { isCanonicalTag, listShorterTags, readAcceptLanguage } from "./language-tag.js";
import { createPageProps, type LanguagePageProps } from "./page-props.js";
import { translateFields, translateProblem } from "./problem-texts.js";
import { ResponseLanguage } from "./response-language.js";

export interface LanguagesOptions {
  /** The folder with a folder for each language, in which are files `*.ftl`. A relative path starts at the working directory. */
  readonly folder?: string | URL;
  /** Messages as texts by their language, in the place of a folder or beside it: `{ en: "greeting = Hello" }`. */
  readonly catalogs?: Readonly<Record<string, string>>;
  /** The language of a request that asks for none of the others. Its messages take the place of those that another language lacks. */
  readonly default: string;
  /** The time zone of dates; `UTC` unless set. */
  readonly timeZone?: string;
  /**
   * Whether the values in a text are between marks of Unicode (U+2068, U+2069), which keep their direction apart from that of the text.
   * Unless set, in languages that are written from right to left.
   */
  readonly isolates?: boolean;
}

const NAMES: OptionNames<LanguagesOptions> = {
  folder: true,
  catalogs: true,
  default: true,
  timeZone: true,
  isolates: true,
};
const log = tracing.target("framework::languages");
const LANGUAGE = sessionKey("language");
const MAX_SHOWN_IDS = 20;

export class Languages extends Subsystem {
  override readonly kind = "storage";
  private readonly settings: CatalogSettings;
  private readonly faults: CatalogFault[] = [];
  private readonly accepted = new BoundedMemo((header) => this.accept(header));
  private read: Catalogs | undefined = undefined;

  /** Reads no file. @throws FrameworkError `E_OPTION`, `E_LANGUAGES_OPTION`, `E_PEER_MISSING`, `E_PEER_VERSION` */
  constructor(private readonly options: LanguagesOptions) {
    super();
    checkOptionNames(options, NAMES, "new Languages");
    const { default: defaultTag, folder, catalogs, timeZone = "UTC", isolates } = options;
    if (typeof defaultTag !== "string" || !isCanonicalTag(defaultTag))
      throw wrongOption("default is a language tag in its usual spelling: en, pt-BR");
    if (folder === undefined && catalogs === undefined) throw wrongOption("give a folder, or catalogs");
    const wrong = Object.keys(catalogs ?? {}).find((tag) => !isCanonicalTag(tag));
    if (wrong !== undefined) throw wrongOption(`catalogs has ${JSON.stringify(wrong)}, which is no language tag`);
    // The first zone loads the data of all of them, which is slow.
    if (timeZone !== "UTC") checkTimeZone(timeZone);
    this.settings = { fluent: loadFluent(), defaultTag, timeZone, isolates };
  }

  /** Reads the catalogs. One fault for each text that is no message. @internal */
  override check(all: readonly Subsystem[]): readonly Diagnostic[] {
    const isSecond = all.find((each) => each instanceof Languages) !== this;
    return [...this.readCatalogs().map(toDiagnostic), ...(isSecond ? [TWO_LANGUAGES] : [])];
  }

  /** Warns of messages that a language lacks. A script without an application calls it before the first text. @throws StartupError */
  override start(): void {
    const faults = this.readCatalogs().map(toDiagnostic);
    if (faults.length > 0) throw new StartupError(faults, { head: "the catalogs cannot be read" });
    for (const gap of this.catalogs.gaps) warnOfGap(gap);
  }

  override stop(): void {}

  /** The tags of all languages, the default first. */
  get tags(): readonly string[] {
    const { tag } = this.fallback;
    return [tag, ...this.all.map((each) => each.tag).filter((each) => each !== tag)];
  }

  /**
   * The language for a tag, by its shorter forms too; else the default. For a mail or a job, whose data has the tag.
   *
   * @param tag any text
   */
  in(tag: string | undefined): Language {
    return this.findLanguage(tag) ?? this.fallback;
  }

  /**
   * The language of a request. The response gets `Content-Language` and `Vary: Accept-Language`.
   *
   * @throws UnavailableError (503) if the session cannot be read
   */
  of(ctx: Context): Promise<Language> {
    const response = ResponseLanguage.of(ctx);
    return (response.negotiation ??= this.negotiate(ctx, response));
  }

  /**
   * The shared props of pages: `locale` with `tag` and `dir`, and `messages`, the messages whose names start with a prefix, as the text of a
   * catalog. The browser keeps the messages from page to page.
   */
  pageProps(prefix: string): LanguagePageProps {
    return createPageProps((ctx) => this.of(ctx), prefix);
  }

  /** The declaration of `Messages` for the messages of the default language, as the text of a module. */
  describe(): string {
    return describeMessages(this.catalogs.entries);
  }

  /** @internal */
  getLanguageTag(exchange: Exchange): string {
    return this.getForRefusal(exchange).tag;
  }

  /** @internal */
  translateProblem(exchange: Exchange, problem: Problem): Problem {
    const language = this.getForRefusal(exchange);
    const translated = translateProblem(language, problem);
    if (translated !== problem) ResponseLanguage.of(exchange).setProblem(translated, language);
    // A cache would send the text to the clients of another language, which has one.
    else if (this.all.some((each) => translateProblem(each, problem) !== problem)) ResponseLanguage.of(exchange);
    return translated;
  }

  /** @internal */
  translateFields(
    exchange: Exchange,
    errors: ValidationError["errors"],
  ): Readonly<Record<string, readonly FieldError[]>> {
    return translateFields(this.getForRefusal(exchange), errors);
  }

  private negotiate(ctx: Context, response: ResponseLanguage): Promise<Language> {
    const session = Session.find(ctx);
    const asked = this.findAsked(ctx);
    if (session === undefined) return Promise.resolve(settle(ctx, response, asked ?? this.findAccepted(ctx)));
    return markHandled(this.negotiateWith(session, ctx, response, asked));
  }

  private async negotiateWith(
    session: Session,
    ctx: Context,
    response: ResponseLanguage,
    asked: Language | undefined,
  ): Promise<Language> {
    const stored = await session.read(LANGUAGE);
    if (asked !== undefined && !session.isClosed && stored !== asked.tag) session.put(LANGUAGE, asked.tag);
    return settle(ctx, response, asked ?? this.findLanguage(stored) ?? this.findAccepted(ctx));
  }

  /** A refusal waits for nothing, so it asks the session only if the request has read it. */
  private getForRefusal(exchange: Exchange): Language {
    const known = ResponseLanguage.find(exchange)?.language;
    return known ?? this.findAsked(exchange) ?? this.findLanguage(findStored(exchange)) ?? this.findAccepted(exchange);
  }

  private findAsked({ incoming }: Exchange): Language | undefined {
    const query = getQuery(incoming.url ?? "");
    return query === "" ? undefined : this.findLanguage(new URLSearchParams(query).get("lang"));
  }

  private findAccepted({ incoming }: Exchange): Language {
    const header = incoming.headers["accept-language"];
    return header === undefined || header === "" ? this.fallback : this.accepted.get(header);
  }

  private accept(header: string): Language {
    const { wanted, refused } = readAcceptLanguage(header);
    const found = wanted.flatMap(listShorterTags).find((tag) => !refused.has(tag) && this.catalogs.languages.has(tag));
    return this.in(found);
  }

  private findLanguage(text: unknown): Language | undefined {
    if (typeof text !== "string") return undefined;
    const { languages } = this.catalogs;
    return languages.get(listShorterTags(text).find((tag) => languages.has(tag)) ?? "");
  }

  private get all(): readonly Language[] {
    return [...this.catalogs.languages.values()];
  }

  private get fallback(): Language {
    const language = this.catalogs.languages.get(this.options.default.toLowerCase());
    if (language !== undefined) return language;
    throw new FrameworkError("the default language has no message", { code: "E_CATALOG" });
  }

  private get catalogs(): Catalogs {
    if (this.read !== undefined) return this.read;
    const fix = "the application reads them while it is built; a script calls languages.start() first";
    throw new FrameworkError(`the catalogs are not read yet: ${fix}`, { code: "E_LANGUAGES_START" });
  }

  /** Reads once, also for several applications of one process. */
  private readCatalogs(): readonly CatalogFault[] {
    if (this.read !== undefined) return this.faults;
    const { folder, catalogs = {}, default: tag } = this.options;
    const files = folder === undefined ? [] : readCatalogFiles(folder, this.faults);
    const texts = Object.entries(catalogs).map(([key, text]): CatalogFile => ({
      tag: key,
      path: `catalogs.${key}`,
      text,
    }));
    this.read = buildCatalogs([...files, ...texts], this.settings, this.faults);
    // A catalog with a fault may have no message for that reason.
    if (this.faults.length === 0 && !this.read.languages.has(tag.toLowerCase()))
      this.faults.push({
        path: String(folder ?? "catalogs"),
        line: 1,
        what: `the default language ${tag} has no message`,
      });
    return this.faults;
  }
}

/** The tag in a session that is read. A store that fails has caused a refusal of its kind already. */
function findStored(exchange: Exchange): unknown {
  const session = Session.find(exchange);
  try {
    return session?.record === undefined ? undefined : session.read(LANGUAGE);
  } catch {
    return undefined;
  }
}

function settle(ctx: Context, response: ResponseLanguage, language: Language): Language {
  response.language = language;
  DocumentLanguage.set(ctx, language);
  return language;
}

const TWO_LANGUAGES: Diagnostic = {
  code: "E_LANGUAGES_TWICE",
  what: "more than one Languages is provided",
  where: "providers",
  fix: "provide one with the catalogs of all modules",
};

function warnOfGap({ language, file, ids }: Gap): void {
  const more = ids.length > MAX_SHOWN_IDS ? `, and ${ids.length - MAX_SHOWN_IDS} more` : "";
  log.warn("messages missing", { language, file, ids: ids.slice(0, MAX_SHOWN_IDS).join(", ") + more });
}

function checkTimeZone(timeZone: string): void {
  try {
    void new Intl.DateTimeFormat("en", { timeZone });
  } catch (cause) {
    throw createSetupError(
      "E_LANGUAGES_OPTION",
      "new Languages({ … }): timeZone is a name such as Europe/Berlin",
      cause,
    );
  }
}

function wrongOption(what: string): FrameworkError {
  return createSetupError("E_LANGUAGES_OPTION", `new Languages({ … }): ${what}`);
}
