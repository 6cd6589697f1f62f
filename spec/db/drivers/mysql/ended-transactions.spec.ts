/**
 * A transaction that the server ends without telling so in its error: with `innodb_rollback_on_timeout` the timeout of a lock rolls
 * the whole transaction back, and the next statement would be committed alone.
 */
import { expect } from "chai";
import { mysql } from "../../../../lib/db/drivers/mysql/mysql-driver.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { Gate } from "../../../support/gate.js";
import { ShopDatabase } from "../../shop-database.js";

const FAILED = { code: "E_DB_TRANSACTION_FAILED", status: 503 };

describe("a transaction of MariaDB that a wait for a lock has ended", function () {
  this.timeout(60_000);
  let server: MariadbServer;
  let db: ShopDatabase;

  before(needs("mariadbd"));
  before(async () => {
    server = await MariadbServer.start(["--innodb-rollback-on-timeout=1"]);
    await server.run("create table articles (id int primary key auto_increment, name varchar(40), stock int)");
    await server.run("insert into articles (name, stock) values ('held', 1)");
    db = new ShopDatabase(mysql({ url: server.url, lockTimeoutMs: 1000 }));
    await db.start();
  });
  after(async () => {
    await db.stop();
    await server[Symbol.asyncDispose]();
  });

  const touch = () => db.run("update articles set stock = 2 where id = 1");

  async function whileHeld(work: () => Promise<unknown>): Promise<Error> {
    const [held, free] = [new Gate(), new Gate()];
    const holder = db.transaction(async () => {
      await touch();
      held.open();
      await free.passed;
    });
    await held.passed;
    const error = await rejectionOf(db.transaction(work));
    free.open();
    await holder;
    return error;
  }

  it("takes no further statement, and stores none of them", async () => {
    const error = await whileHeld(async () => {
      await db.add("before");
      await rejectionOf(touch());
      await rejectionOf(db.add("behind"));
    });

    expect(error).to.include(FAILED);
    expect(await db.names()).to.deep.equal(["held"]);
  });

  it("does not commit", async () => {
    const error = await whileHeld(async () => {
      await db.add("before");
      await rejectionOf(touch());
    });

    expect(error).to.include(FAILED);
    expect(await db.names()).to.deep.equal(["held"]);
  });

  it("leaves the transactions whose other statements fail as they are", async () => {
    await db.transaction(async () => {
      await db.add("kept");
      await rejectionOf(db.run("insert into articles (id) values (1)"));
    });

    expect(await db.names()).to.deep.equal(["held", "kept"]);
  });
});
