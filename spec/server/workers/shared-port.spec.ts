import { once } from "node:events";
import net, { type Socket } from "node:net";
import { expect } from "chai";
import { type ConnectionTaker, SharedPort } from "../../../lib/server/workers/shared-port.js";
import { until } from "../../support/until.js";

/** A worker that confirms when the test says so. */
class Taker implements ConnectionTaker {
  taken = 0;

  take(_socket: Socket): void {
    this.taken += 1;
  }
}

class PortUnderTest implements AsyncDisposable {
  readonly takers: readonly Taker[];
  private readonly clients: Socket[] = [];

  private constructor(
    readonly port: SharedPort,
    takers: number,
  ) {
    this.takers = Array.from({ length: takers }, () => new Taker());
    for (const taker of this.takers) port.add(taker);
  }

  static async open(takers: number): Promise<PortUnderTest> {
    return new PortUnderTest(await SharedPort.open({ host: "127.0.0.1", port: 0 }), takers);
  }

  /** Connects, and waits until a worker has the connection. */
  async connect(): Promise<Taker | undefined> {
    const before = this.takers.map(({ taken }) => taken);
    const { address } = this.port;
    if (typeof address !== "object" || address === null) throw new Error("the port has an address");
    const client = net.connect(address.port, "127.0.0.1");
    this.clients.push(client);
    await once(client, "connect");
    let got: Taker | undefined;
    await until(() => (got = this.takers.find(({ taken }, at) => taken !== before[at])) !== undefined);
    return got;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.clients) client.destroy();
    await this.port.close();
    this.port.destroyWaiting();
  }
}

describe("the port of workers", () => {
  it("passes a connection to the worker with the fewest, and alternates between those that have as many", async () => {
    await using test = await PortUnderTest.open(3);
    const { port, takers } = test;
    const [one, two, three] = takers;
    for (const taker of takers) port.count(taker, 5);

    const first = [await test.connect(), await test.connect(), await test.connect()];
    for (const taker of takers) port.confirm(taker, 6);
    port.count(takers[1] ?? new Taker(), 4);
    const next = await test.connect();
    port.confirm(takers[1] ?? new Taker(), 5);

    expect(first).to.deep.equal([one, two, three]);
    expect([next, await test.connect()]).to.deep.equal([two, two]);
  });

  it("passes over a worker that does not confirm, although it has the fewest", async () => {
    await using test = await PortUnderTest.open(2);
    const { port, takers } = test;
    const [busy, other] = takers;
    if (other !== undefined) port.count(other, 10);

    expect(await test.connect()).to.equal(busy);
    expect(await test.connect()).to.equal(other);
    if (other !== undefined) port.confirm(other, 11);
    expect(await test.connect()).to.equal(other);
  });
});
