/**
 * Drops everything that the schema of the application has, for `db:fresh`: on SQLite and MariaDB the objects of the database, on PostgreSQL
 * those of the current schema, apart from the objects of extensions. Other schemas, roles and settings stay.
 */
import type { SqlFamily } from "../dialect.js";
import type { DriverConnection } from "../driver.js";

/**
 * A query that returns the statements, of which one may have dropped the object of a later one. On SQLite a virtual table is first,
 * because it drops the tables that store it.
 */
const LISTS: Readonly<Record<SqlFamily, string>> = {
  sqlite: `
    select 'drop ' || type || ' if exists "' || replace(name, '"', '""') || '"' as statement
    from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'
    order by type desc, sql like 'create virtual%' desc`,
  postgres: `
    with objects (catalog, id, statement) as (
      select 'pg_class'::regclass, oid, format('drop %s if exists %s cascade',
          case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' when 'f' then 'foreign table' else 'table' end,
          format('%I.%I', relnamespace::regnamespace::text::name, relname))
        from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      union all
      select 'pg_proc'::regclass, oid, format('drop %s if exists %s cascade',
          case prokind when 'a' then 'aggregate' when 'p' then 'procedure' else 'function' end, oid::regprocedure)
        from pg_proc where pronamespace = current_schema()::regnamespace
      union all
      select 'pg_type'::regclass, oid, format('drop type if exists %s cascade', format_type(oid, null))
        from pg_type where typnamespace = current_schema()::regnamespace and (typtype in ('e', 'd', 'r')
          or typtype = 'c' and (select relkind from pg_class where pg_class.oid = typrelid) = 'c')
    )
    select statement from objects where not exists (
      select from pg_depend where classid = catalog and objid = id and deptype = 'e')`,
  mysql: `
    select concat('drop ', case table_type when 'VIEW' then 'view' when 'SEQUENCE' then 'sequence' else 'table' end,
        ' if exists \`', replace(table_name, '\`', '\`\`'), '\`') as statement
      from information_schema.tables where table_schema = database() and table_type <> 'TEMPORARY'
    union all
    select concat('drop ', routine_type, ' if exists \`', replace(routine_name, '\`', '\`\`'), '\`')
      from information_schema.routines where routine_schema = database() and routine_type in ('PROCEDURE', 'FUNCTION')
    union all
    select concat('drop event if exists \`', replace(event_name, '\`', '\`\`'), '\`')
      from information_schema.events where event_schema = database()`,
};

/** Without these, a drop would delete the rows first, and a row that another table references would refuse it. */
const FOREIGN_KEYS: Readonly<Partial<Record<SqlFamily, readonly [suspend: string, resume: string]>>> = {
  // The setting has an effect outside of a transaction alone.
  sqlite: ["pragma foreign_keys = off", "pragma foreign_keys = on"],
  mysql: ["set foreign_key_checks = 0", "set foreign_key_checks = 1"],
};

/** In one transaction, where the engine has one for a schema. Returns the number of objects. */
export async function dropAll(connection: DriverConnection, family: SqlFamily): Promise<number> {
  const run = async (sql: string) => (await connection.query({ sql, parameters: [], isRead: false })).rows;
  const [suspend, resume] = FOREIGN_KEYS[family] ?? [];
  if (suspend !== undefined) await run(suspend);
  try {
    await connection.begin({ readOnly: false });
    try {
      const statements = (await run(LISTS[family])).map((row) => String(Object.values(row)[0]));
      for (const statement of statements) await run(statement);
      await connection.commit();
      return statements.length;
    } catch (error) {
      await connection.rollback().catch(() => {});
      throw error;
    }
  } finally {
    if (resume !== undefined) await run(resume);
  }
}
