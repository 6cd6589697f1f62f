/**
 * A program that takes orders on the database of `DATABASE`. An order of `dies` kills the process after the effect and before the record, an
 * order of `dies-late` after the commit and before the response, while the variable `KILLS` is set.
 */
import { Reply } from "@stagecraft/framework";
import { DatabaseIdempotencyStore } from "@stagecraft/framework/idempotency/db";
import { buildOrders } from "../orders.js";
import { openDriver, OrderDatabase } from "./order-database.js";

const db = OrderDatabase.on(openDriver(process.env["DATABASE"] ?? ""));
const kill = (): void => {
  if (process.env["KILLS"] !== undefined) process.kill(process.pid, "SIGKILL");
};

await buildOrders(new DatabaseIdempotencyStore(db), async ({ input, user }) => {
  const { article } = (input as { readonly body: { readonly article: string } }).body;
  await db.add(article, user);
  if (article === "dies") kill();
  if (article === "dies-late") db.afterCommit(kill);
  return Reply.json({ article }, 201);
})
  .build()
  .run();
