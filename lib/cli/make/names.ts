/** The name in `make:controller admin/links`, in the forms that files, classes and constants need. */
import { UsageError } from "../command.js";

export interface NameForms {
  /** The folders below `src`: those that the name has, or one with the name itself, such as `links`. */
  readonly folder: string;
  /** `sale-reports`, of files and of texts. */
  readonly kebab: string;
  /** `SaleReports`, of classes. */
  readonly pascal: string;
  /** `saleReports`, of constants. */
  readonly camel: string;
}

const SEGMENT = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_NAME = 100;
/** Words that cannot be the name of a constant. */
const RESERVED = new Set(
  (
    "await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements " +
    "import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield"
  ).split(" "),
);

/**
 * @param text words in lower case with `-` between them, and `/` between folders; `SaleReports` is taken as `sale-reports`
 * @throws UsageError if it is no such name
 */
export function parseNames(text: string): NameForms {
  const segments = text.split("/").map(toKebab);
  const kebab = segments.at(-1) ?? "";
  if (text.length > MAX_NAME || !segments.every((segment) => SEGMENT.test(segment)) || RESERVED.has(kebab))
    throw new UsageError(`${JSON.stringify(text.slice(0, MAX_NAME))} is not a name`, {
      fix: "write words in lower case, such as sale-reports, with / between folders",
    });
  const pascal = toPascal(kebab);
  const folder = segments.length === 1 ? kebab : segments.slice(0, -1).join("/");
  return { folder, kebab, pascal, camel: pascal.charAt(0).toLowerCase() + pascal.slice(1) };
}

function toKebab(text: string): string {
  return text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "-").toLowerCase();
}

function toPascal(kebab: string): string {
  return kebab.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
