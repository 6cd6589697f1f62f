/**
 * Pages of a query. `paginate` counts the rows: it is for tables with page numbers. `after` continues behind the last row that the client
 * has: it is for long and for growing lists, and its last pages are as fast as its first.
 *
 * @example
 * await paginate(db.query.selectFrom("links").selectAll().orderBy("slug"), { page: 2, size: 20 });
 * await after(db.query.selectFrom("links").selectAll(), { by: [["created", "desc"], ["id", "desc"]], size: 20, cursor });
 */
import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  SelectQueryBuilder,
  SelectQueryNode,
} from "kysely";
import { BadRequestError, FrameworkError } from "../errors/framework-error.js";
import { valueText } from "../errors/value-text.js";
import { DatabaseError } from "./database-error.js";
import { sql } from "./kysely.js";

const MAX_SIZE = 1_000;
const MAX_CURSOR_LENGTH = 2_048;
const FIRST_LETTER = 97;

/** The codes of PostgreSQL for a text that it cannot read as the type of the column that it is compared with. */
const UNREADABLE: ReadonlySet<string | undefined> = new Set(["22003", "22007", "22008", "22021", "22P02"]);

export interface NumberedPage<Row> {
  readonly rows: readonly Row[];
  /** From 1. */
  readonly page: number;
  readonly size: number;
  /** Rows of all pages. */
  readonly total: number;
  readonly pages: number;
}

export interface CursorPage<Row> {
  readonly rows: readonly Row[];
  /** For the next page; absent on the last one. A text for a URL with the values of the order columns. */
  readonly next?: string;
}

/** The page with a number, and the number of all rows. The query has an order. @throws FrameworkError `E_DB_PAGE` */
export async function paginate<Tables, Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  { page, size }: { readonly page: number; readonly size: number },
): Promise<NumberedPage<Row>> {
  checkSize(size);
  if (!Number.isSafeInteger(page) || page < 1 || page > Number.MAX_SAFE_INTEGER / size)
    throw pageError(`the page ${valueText(page)} does not exist: pages are whole numbers from 1`);
  const rows = await query
    .limit(size)
    .offset((page - 1) * size)
    .execute();
  const counted = await toCountQuery(query).executeTakeFirstOrThrow();
  // The types of Kysely cannot follow an alias behind tables that are a parameter.
  const total = Number((counted as { readonly total: unknown }).total);
  return { rows, page, size, total, pages: Math.ceil(total / size) };
}

function toCountQuery<Tables, Table extends keyof Tables, Row>(query: SelectQueryBuilder<Tables, Table, Row>) {
  const all = query.clearOrderBy().clearLimit().clearOffset();
  const count = all.clearSelect().select((eb) => eb.fn.countAll().as("total"));
  const { selections = [], ...node } = count.toOperationNode();
  const groups = [node.distinctOn, node.frontModifiers, node.groupBy, node.having, node.setOperations];
  return groups.every((each) => each === undefined) ? count : all.withPlugin(new CountRows(selections));
}

/** Counts the rows of a query that combines several rows into one, such as a `distinct` one: the query becomes the table. */
class CountRows implements KyselyPlugin {
  constructor(private readonly selections: NonNullable<SelectQueryNode["selections"]>) {}

  transformQuery({ node }: PluginTransformQueryArgs): SelectQueryNode {
    const table = sql`${{ toOperationNode: () => node }} as counted`.toOperationNode();
    return { kind: "SelectQueryNode", from: { kind: "FromNode", froms: [table] }, selections: this.selections };
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<PluginTransformResultArgs["result"]> {
    return result;
  }
}

export interface AfterOptions<Row> {
  /** The order: columns that the query selects, without nulls, and the last one unique. */
  readonly by: readonly (readonly [column: keyof Row & string, direction: "asc" | "desc"])[];
  readonly size: number;
  /** `next` of the page before, as the client sent it. */
  readonly cursor?: string | undefined;
}

/** The rows behind a cursor. @throws BadRequestError `E_DB_CURSOR` for a text that is not a cursor; FrameworkError `E_DB_PAGE` */
export async function after<Tables, Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  { by, size, cursor }: AfterOptions<Row>,
): Promise<CursorPage<Row>> {
  checkSize(size);
  let built = query;
  if (cursor !== undefined) {
    const values = readCursor(cursor, by.length);
    built = built.where((eb) => {
      // Greater in the first column, or equal there and greater in the second, …
      const alternatives = by.map(([column, direction], index) => {
        const equal = by.slice(0, index).map(([each], at) => eb(eb.ref(each as never), "=", values[at] as never));
        return eb.and([...equal, eb(eb.ref(column as never), direction === "asc" ? ">" : "<", values[index] as never)]);
      });
      return eb.or(alternatives);
    });
  }
  for (const [column, direction] of by) built = built.orderBy(column as never, direction);
  const columns = by.map(([column]) => column);
  const read = await withTexts(built.limit(size + 1), columns)
    .execute()
    .catch((error: unknown) => {
      throw cursor !== undefined && isUnreadable(error) ? cursorError() : error;
    });
  const values = read.length > size ? getCursorValues(read[size - 1], columns) : undefined;
  const rows = read.slice(0, size).map((row) => withoutTexts(row, columns));
  return values === undefined ? { rows } : { rows, next: writeCursor(values) };
}

/**
 * Adds to each row the text of each order column, as the database writes it. A cursor from a Date, which has no microseconds, would repeat
 * or skip rows.
 */
function withTexts<Tables, Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  columns: readonly string[],
): SelectQueryBuilder<Tables, Table, Row> {
  const texts = columns.map((column, index) => sql`concat(${sql.ref(column)}, '')`.as(toTextName(index)));
  // The columns of the rows stay as the application declared them: `withoutTexts` takes the texts out.
  return query.select(texts);
}

function withoutTexts<Row>(row: Row, columns: readonly string[]): Row {
  for (const index of columns.keys()) Reflect.deleteProperty(row as object, toTextName(index));
  return row;
}

/** The name has no digit, capital or underscore, so that a plugin that renames columns does not change it. */
function toTextName(index: number): string {
  return `cursortext${String.fromCodePoint(FIRST_LETTER + index)}`;
}

/** For a Date, a boolean, bytes and the infinities the value is the text of the database. */
function getCursorValues(row: unknown, columns: readonly string[]): readonly unknown[] {
  const values = row as Readonly<Record<string, unknown>>; // The query selects the columns.
  return columns.map((column, index) => {
    const value = values[column];
    const isExact = typeof value === "string" || typeof value === "bigint" || Number.isFinite(value);
    return isExact || value === null ? value : values[toTextName(index)];
  });
}

function writeCursor(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values, (_, value: unknown) => toJsonValue(value))).toString("base64url");
}

/** JSON has no bigint. A bigint beyond the safe integers becomes a list with its digits. */
function toJsonValue(value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : [String(value)];
}

function readCursor(text: string, count: number): readonly (string | number | bigint)[] {
  const parts = text.length > MAX_CURSOR_LENGTH ? undefined : parseJson(text);
  const values = Array.isArray(parts) && parts.length === count ? parts.map(parseCursorValue) : [undefined];
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length) throw cursorError();
  return known;
}

function isUnreadable(error: unknown): boolean {
  return error instanceof DatabaseError && UNREADABLE.has(error.engineCode);
}

function cursorError(): FrameworkError {
  return new BadRequestError("the cursor is not one of this list", { code: "E_DB_CURSOR" });
}

function parseCursorValue(part: unknown): string | number | bigint | undefined {
  if (typeof part === "string" || typeof part === "number") return part;
  const digits: unknown = Array.isArray(part) && part.length === 1 ? part[0] : undefined;
  if (typeof digits !== "string" || !/^-?\d{16,19}$/.test(digits)) return undefined;
  const value = BigInt(digits);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

function checkSize(size: number): void {
  if (Number.isInteger(size) && size >= 1 && size <= MAX_SIZE) return;
  throw pageError(`a page of ${valueText(size)} rows: use a whole number from 1 to ${MAX_SIZE}`);
}

function pageError(text: string): FrameworkError {
  return new BadRequestError(text, { code: "E_DB_PAGE" });
}
