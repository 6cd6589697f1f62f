/**
 * Language tags (BCP 47): which of the languages of an application a client gets. Every tag comes from a fixed list, and a text of a client is
 * only compared with it.
 *
 * The header may be hostile. The first 512 characters and the first 16 members count, and a member that is not well-formed is ignored. The
 * functions never throw.
 */

const MAX_HEADER = 512;
const MAX_RANGES = 16;
/** In characters. */
const MAX_TAG = 64;
const RANGE = /^[a-z]{1,8}(?:-[a-z\d]{1,8})*$/;
const WEIGHT = /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** The tags that a search goes through: the tag, and its shorter forms (RFC 4647 section 3.4). In lower case; none for a text that is no tag. */
export function listShorterTags(text: string): readonly string[] {
  const tags: string[] = [];
  let tag = text.length > MAX_TAG ? "" : text.trim().toLowerCase();
  if (!RANGE.test(tag)) return tags;
  while (tag !== "") {
    tags.push(tag);
    tag = tag.slice(0, Math.max(0, tag.lastIndexOf("-")));
    // A subtag of one character introduces the next one, and does not stand at the end.
    if (tag.at(-2) === "-") tag = tag.slice(0, -2);
  }
  return tags;
}

/** The language ranges of `Accept-Language`, the most wanted first, and those with the weight 0 (RFC 9110 section 12.5.4). */
export interface AcceptedRanges {
  readonly wanted: readonly string[];
  readonly refused: ReadonlySet<string>;
}

/** `*` is left out: it says nothing that the default language does not (RFC 4647 section 3.4). */
export function readAcceptLanguage(header: string): AcceptedRanges {
  const isCut = header.length > MAX_HEADER;
  const members = header.slice(0, MAX_HEADER).split(",");
  const whole = (isCut ? members.slice(0, -1) : members).slice(0, MAX_RANGES);
  const ranges = whole.flatMap((member) => {
    const [name = "", weight, ...more] = member.split(";").map((part) => part.trim());
    const range = name.toLowerCase();
    const isWellFormed = more.length === 0 && RANGE.test(range) && (weight === undefined || WEIGHT.test(weight));
    return isWellFormed ? [{ range, weight: weight === undefined ? 1 : Number(weight.slice(2)) }] : [];
  });
  return {
    wanted: ranges
      .filter(({ weight }) => weight > 0)
      .toSorted((one, other) => other.weight - one.weight)
      .map(({ range }) => range),
    refused: new Set(ranges.filter(({ weight }) => weight === 0).map(({ range }) => range)),
  };
}

/** The scripts that are written from right to left. */
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(
  "Adlm Arab Armi Aran Avst Chrs Cprt Elym Hatr Hebr Hung Khar Lydi Mand Mani Mend Merc Mero Narb Nbat Nkoo Orkh Ougr Palm Phli Phlp Phnx Prti Rohg Samr Sarb Sogd Sogo Syrc Thaa Yezi".split(
    " ",
  ),
);

/** The direction of a language's usual script, or of the script that the tag names. */
export function getDirection(tag: string): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.has(new Intl.Locale(tag).maximize().script ?? "") ? "rtl" : "ltr";
}

/** Whether a text is a tag in its usual spelling, `pt-BR`. */
export function isCanonicalTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text)[0] === text && RANGE.test(text.toLowerCase());
  } catch {
    return false;
  }
}
