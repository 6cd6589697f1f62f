/** The statements of a file of SQL: the semicolons that end a statement, in each dialect. */
import { expect } from "chai";
import type { SqlFamily } from "../../../lib/db/dialect.js";
import { splitStatements } from "../../../lib/db/migrations/sql-statements.js";

const ALL: readonly SqlFamily[] = ["sqlite", "postgres", "mysql"];

/** Each is one statement. */
const WHOLE: readonly (readonly [SqlFamily | "all", string])[] = [
  ["all", "insert into a values ('x;y''z;')"],
  ["all", 'select "a;b" from c'],
  ["all", "select 1 -- one; two\n + 2"],
  ["all", "select 1 /* one; two */ + 2"],
  ["all", "select case when a then b else c end from d"],
  ["sqlite", "select [a;b] from `c;d`"],
  ["sqlite", "create trigger t after insert on a begin update b set c = 1; delete from d; end"],
  ["sqlite", "create temp trigger t after insert on a begin select case when new.a then 1 end; end"],
  ["postgres", "create function f() returns int as $$ begin return 1; end; $$ language plpgsql"],
  ["postgres", "create or replace function f() returns text as $body$ select '$$;'; $body$ language sql"],
  ["postgres", "create function f() returns int begin atomic select 1; select case when true then 2 end; end"],
  ["postgres", String.raw`select E'it\'s; here', a[1]`],
  ["postgres", String.raw`select E'it''s \'; here'`],
  ["postgres", "select $é$ a; $é2$ b; $é$, $1, $2"],
  ["postgres", "select 1 /* one /* two; */ three; */ + 2"],
  ["mysql", String.raw`insert into a values ('it\'s; here')`],
  ["mysql", "select 1 # one; two\n + 2"],
  ["mysql", "--\nselect 'a'"],
  ["mysql", "/*!40101 set names utf8mb4 */"],
  ["mysql", "/*M!100100 create table a (b int) */"],
  ["mysql", "create procedure p() begin if a then select 1; end if; case b when 1 then select 2; end case; end"],
  ["mysql", "create definer = `root`@`localhost` trigger t before insert on a for each row begin set new.b = 1; end"],
];

describe("the statements of a file of SQL", () => {
  for (const [dialect, text] of WHOLE)
    it(`keep whole on ${dialect}: ${text.replaceAll("\n", " ")}`, () => {
      for (const each of dialect === "all" ? ALL : [dialect])
        expect(splitStatements(`select 0; ${text};\nselect 9;`, each)).to.deep.equal(["select 0", text, "select 9"]);
    });

  it("leave out empty statements and comments behind the last", () => {
    for (const dialect of ALL)
      expect(splitStatements("\n;; select 1 ;\n-- the end;\n/* ; */\n", dialect)).to.deep.equal(["select 1"]);
  });

  it("are refused with a command of the program mysql, which says how to write them", () => {
    const text = "create table a (b int);\nDELIMITER //\ncreate procedure p() begin select 1; end//\nDELIMITER ;";
    expect(() => splitStatements(text, "mysql"))
      .to.throw(/DELIMITER.+leave these lines out/)
      .that.includes({ code: "E_DB_MIGRATION_FILE" });
    expect(splitStatements("select 1 as delimiter", "mysql")).to.have.length(1);
  });

  it("end at a semicolon behind begin, which begins no body", () => {
    expect(splitStatements("begin; create table event (a int); end;", "sqlite")).to.deep.equal([
      "begin",
      "create table event (a int)",
      "end",
    ]);
  });
});
