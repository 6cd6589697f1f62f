/**
 * The statements that make the database of a PostgreSQL server as empty as it was. A new database would cost more than a new server,
 * because it has hundreds of files.
 */

export const CLIENTS =
  "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";

export const END_CLIENTS = CLIENTS.replace("pid", "pg_terminate_backend(pid)");

/** The identifiers of objects that `initdb` has not created start here. */
const FIRST_OID = 16_384;

/**
 * Works also where a test has set the database to read-only. The schema `public` gets the rights that the server gives it, which are others since
 * version 15.
 */
export const EMPTY = `
  begin read write;
  set local client_min_messages = warning;
  do $$
    declare name text;
    begin
      for name in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop
        execute format('drop schema %I cascade', name);
      end loop;
      for name in select rolname from pg_roles where oid >= ${FIRST_OID} loop
        execute format('drop owned by %I; drop role %I', name, name);
      end loop;
      create schema public;
      if current_setting('server_version_num')::int >= 150000 then
        alter schema public owner to pg_database_owner;
        grant usage on schema public to public;
      else
        grant all on schema public to public;
      end if;
    end
  $$;
  alter database shop reset all;
  commit`;

const CATALOGS = [
  "class",
  "proc",
  "type",
  "namespace",
  "roles",
  "database",
  "extension",
  "tablespace",
  "event_trigger",
  "publication",
];

/** The number of objects that are left, but for the schema `public`, and of settings. */
export const LEFT = `
  select (
    (select count(*) from (${CATALOGS.map((name) => `select oid from pg_${name}`).join(" union all ")}) as objects
      where oid >= ${FIRST_OID}) - 1 + (select count(*) from pg_db_role_setting)
  )::int as count`;
