/**
 * The state of a maintenance in a database of the application, in the table of `maintenanceMigrations`. A write is not a part of a
 * transaction that is open around a change. Not for a maintenance of the database itself: use a file.
 *
 * @example
 * const db = new ShopDatabase(postgres({ url }), { migrations: [maintenanceMigrations, readMigrations(folder)] });
 * builder.maintenance(new Maintenance().store(new DatabaseMaintenanceStore(db)));
 */
import type { Kysely } from "kysely";
import type { Database } from "../../../db/database.js";
import { UniqueViolationError } from "../../../db/database-error.js";
import type { Subsystem } from "../../../lifecycle/subsystem.js";
import { formatState, type MaintenanceState, MaintenanceStore, parseState } from "../maintenance-store.js";

interface MaintenanceTables {
  readonly framework_maintenance: { readonly id: number; readonly state: string };
}

const TABLE = "framework_maintenance";
const ID = 1;

export class DatabaseMaintenanceStore<Tables = unknown> extends MaintenanceStore {
  private readonly query: Kysely<MaintenanceTables>;

  constructor(private readonly db: Database<Tables>) {
    super();
    db.requireTable({ table: TABLE, migrations: "maintenanceMigrations of @stagecraft/framework/maintenance" });
    // The migration creates this table. A plugin of the application would rename its columns.
    this.query = db.query.withoutPlugins() as unknown as Kysely<MaintenanceTables>;
  }

  override get name(): string {
    return `the table ${TABLE} of ${this.db.name}`;
  }

  override get subsystems(): readonly Subsystem[] {
    return [this.db];
  }

  override async read(): Promise<MaintenanceState | undefined> {
    const row = await this.query.selectFrom(TABLE).select("state").where("id", "=", ID).executeTakeFirst();
    return row === undefined ? undefined : parseState(row.state, this.name);
  }

  override async write(state: MaintenanceState): Promise<void> {
    const text = formatState(state);
    if (await this.update(text)) return;
    try {
      await this.query.insertInto(TABLE).values({ id: ID, state: text }).execute();
    } catch (error) {
      // Another process was faster, or the row has this text, which MySQL does not count as an update.
      if (!(error instanceof UniqueViolationError)) throw error;
      await this.update(text);
    }
  }

  /** False without a row. */
  private async update(state: string): Promise<boolean> {
    const { numUpdatedRows } = await this.query
      .updateTable(TABLE)
      .set({ state })
      .where("id", "=", ID)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }
}
