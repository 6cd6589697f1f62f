/** A connection to MariaDB that the server closes after the error of a statement: it must not return to the pool. */
import { expect } from "chai";
import { mysql } from "../../../../lib/db/drivers/mysql/mysql-driver.js";
import { needs } from "../../../support/machine.js";
import { MariadbServer } from "../../../support/mariadb-server.js";
import { rejectionOf } from "../../../support/rejection-of.js";
import { ShopDatabase } from "../../shop-database.js";

const PACKET = 1 << 20;

describe("a connection to MariaDB", function () {
  this.timeout(60_000);
  let server: MariadbServer;

  before(needs("mariadbd"));
  before(async () => {
    server = await MariadbServer.start([`--max-allowed-packet=${PACKET}`]);
    await server.run("create table articles (id int primary key auto_increment, name longtext, stock int)");
  });
  after(() => server[Symbol.asyncDispose]());

  it("is replaced after a statement that is longer than the server takes", async () => {
    await using db = new ShopDatabase(mysql({ url: server.url, pool: { max: 1 } }));
    await db.start();

    const error = await rejectionOf(db.add("x".repeat(PACKET + 1)));
    await db.add("short");

    expect(error.message).to.match(/longer than max_allowed_packet|outcome of a write/);
    expect(await db.names()).to.deep.equal(["short"]);
  });
});
