/** The language of a response, with its headers: `Content-Language` and `Vary` (RFC 9110 sections 8.5 and 12.5.5). */
import type { Problem } from "../errors/problem.js";
import { findRefusal } from "../http/failures/refuse.js";
import type { Exchange } from "../http/request/exchange.js";
import { Extension } from "../http/request/extension.js";
import type { HeadCompleter, ResponseHead } from "../http/response/response-head.js";
import { VaryCompleter } from "../http/response/vary.js";
import type { Language } from "./language.js";

const VARY = new VaryCompleter("Accept-Language");
const OfRequest = new Extension<ResponseLanguage>("response language");

export class ResponseLanguage implements HeadCompleter {
  language: Language | undefined = undefined;
  /** Set once the session was asked, too. */
  negotiation: Promise<Language> | undefined = undefined;
  /** The last problem that was translated. */
  problem: Problem | undefined = undefined;

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

  /** A refusal may take the place of what was translated. */
  complete(exchange: Exchange, head: ResponseHead): void {
    VARY.complete(exchange, head);
    const refusal = findRefusal(exchange);
    if (this.language === undefined || (refusal !== undefined && refusal.problem !== this.problem)) return;
    head.addMissing(["Content-Language", this.language.tag]);
  }
}
