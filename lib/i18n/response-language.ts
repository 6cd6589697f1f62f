/** The language of a response, with its headers: `Content-Language` and `Vary` (RFC 9110 sections 8.5 and 12.5.5). */
import type { Problem } from "../errors/problem.js";
import { findRefusal } from "../http/failures/refuse.js";
import type { Exchange } from "../http/request/exchange.js";
import { Extension } from "../http/request/extension.js";
import type { HeadCompleter, ResponseHead } from "../http/response/response-head.js";
import { VaryCompleter } from "../http/response/vary.js";
import { Session } from "../stages/session/session.js";
import type { Language } from "./language.js";

const VARY = new VaryCompleter("Accept-Language");
const VARY_WITH_SESSION = new VaryCompleter("Accept-Language, Cookie");
const OfRequest = new Extension<ResponseLanguage>("response language");

export class ResponseLanguage implements HeadCompleter {
  language: Language | undefined = undefined;
  /** Set once the session was asked, too. */
  negotiation: Promise<Language> | undefined = undefined;
  /** The last problem that was translated. */
  private problem: Problem | undefined = undefined;

  /** That of the request. The first call registers the headers. */
  static of(exchange: Exchange): ResponseLanguage {
    const known = OfRequest.find(exchange);
    if (known !== undefined) return known;
    const created = new ResponseLanguage();
    OfRequest.set(exchange, created);
    exchange.completeHeadWith(created);
    return created;
  }

  static find(exchange: Exchange): ResponseLanguage | undefined {
    return OfRequest.find(exchange);
  }

  setProblem(problem: Problem, language: Language): void {
    this.problem = problem;
    this.language = language;
  }

  /** A refusal may take the place of what was translated. */
  complete(exchange: Exchange, head: ResponseHead): void {
    // A cache would send the language in the session of one visitor to all others.
    (Session.find(exchange) === undefined ? VARY : VARY_WITH_SESSION).complete(exchange, head);
    const refusal = findRefusal(exchange);
    if (this.language === undefined || (refusal !== undefined && refusal.problem !== this.problem)) return;
    head.addMissing(["Content-Language", this.language.tag]);
  }
}
