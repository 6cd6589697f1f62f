/** The soak of `npm run soak`, for seconds instead of minutes, with clients that count every response, so that all counts are exact. */
import { expect } from "chai";
import { soak, type Soaked } from "../tools/soak/soak.js";
import { disagreements } from "../tools/soak/verdict.js";

const CLIENTS = 8;

describe("a sample that is killed under load", function () {
  this.timeout(180_000);
  this.slow(10_000);
  let soaked: Soaked;

  before(async () => {
    soaked = await soak({ seconds: 1, clients: CLIENTS, connections: 0 });
  });

  it("writes a whole line for each response, in the order of each client, and counts it in /metrics", () => {
    expect(disagreements(soaked)).to.deep.equal([]);
    expect(soaked.reading.requests).to.equal(soaked.responses);
  });

  it("has served requests of every kind", () => {
    expect(soaked.byClient.filter((responses) => responses > 0)).to.have.length(CLIENTS);
    expect([...soaked.reading.series.keys()]).to.include.members([
      "GET 200",
      "POST 201",
      "GET 302",
      "DELETE 401",
      "GET 404",
    ]);
  });

  it("fails the check where one line, one response or one count is missing", () => {
    const { responses, counted, byClient } = soaked;
    const missing = counted.get("GET 404") ?? 0;

    const wrong: readonly Soaked[] = [
      { ...soaked, responses: responses + 1 },
      { ...soaked, responses: responses - 1 },
      { ...soaked, counted: new Map([...counted, ["GET 404", missing + 1]]) },
      { ...soaked, counted: new Map([...counted, ["GET 418", 1]]) },
      { ...soaked, byClient: byClient.map((each, client) => (client === 3 ? each + 1 : each)) },
    ];

    expect(wrong.map((each) => disagreements(each).length)).to.deep.equal([1, 1, 1, 1, 1]);
  });
});
