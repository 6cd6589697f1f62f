/** The table of the database benchmark. */
import { Database } from "@stagecraft/framework/db";

export const ITEMS = 1000;

export interface Item {
  readonly id: number;
  readonly name: string;
  readonly price: number;
}

export class ItemDatabase extends Database<{ items: Item }> {
  readonly itemById = this.prepared((id: number) => this.query.selectFrom("items").selectAll().where("id", "=", id));
}

export function itemOf(id: number): Item {
  return { id, name: `item ${id}`, price: id * 100 };
}
