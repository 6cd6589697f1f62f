/** Transactions of the running code: commit, rollback, savepoints, their order, and the work that waits for the commit. */
import { DatabaseError } from "@stagecraft/framework/db";
import { expect } from "chai";
import { currentCommitScope } from "../../../lib/lifecycle/commit-scope.js";
import { inWorkScope } from "../../../lib/lifecycle/work-scope.js";
import { eventsOf } from "../../support/events-of.js";
import { Gate } from "../../support/gate.js";
import { rejectionOf } from "../../support/rejection-of.js";
import { shopDatabase } from "../shop-database.js";

const failure = new Error("the function failed");
const conflict = () => new DatabaseError({ kind: "serialization" }, "shop");

describe("db.transaction", () => {
  it("commits the changes of its function, and returns its result", async () => {
    await using db = await shopDatabase();

    const result = await db.transaction(async () => {
      await db.add("tea");
      return "done";
    });

    expect([result, await db.names()]).to.deep.equal(["done", ["tea"]]);
  });

  it("rolls back if its function throws, and rejects with that error", async () => {
    await using db = await shopDatabase();

    const error = await rejectionOf(
      db.transaction(async () => {
        await db.add("tea");
        throw failure;
      }),
    );

    expect(error).to.equal(failure);
    expect(await db.names()).to.deep.equal([]);
  });

  it("is the transaction of the promises and timers in its function", async () => {
    await using db = await shopDatabase();
    const later = () =>
      new Promise((resolve, reject) => {
        setImmediate(() => void db.add("tea").then(resolve, reject));
      });

    await rejectionOf(
      db.transaction(async () => {
        await later();
        throw failure;
      }),
    );

    expect(await db.names()).to.deep.equal([]);
  });

  it("keeps two databases apart", async () => {
    await using db = await shopDatabase();
    await using other = await shopDatabase();

    await rejectionOf(
      db.transaction(async () => {
        await other.transaction(() => Promise.all([db.add("tea"), other.add("tea")]));
        throw failure;
      }),
    );

    expect([await db.names(), await other.names()]).to.deep.equal([[], ["tea"]]);
  });

  it("refuses work that continues after its end", async () => {
    await using db = await shopDatabase();
    let late: Promise<unknown> = Promise.resolve();

    await db.transaction(() => {
      late = new Promise((resolve) => setTimeout(resolve, 5)).then(() => db.add("tea"));
    });

    expect(await rejectionOf(late)).to.include({ code: "E_DB_TRANSACTION_OVER" });
    expect(await db.names()).to.deep.equal([]);
  });

  it("refuses a write in a read-only transaction, and allows it afterwards", async () => {
    await using db = await shopDatabase();

    const error = await rejectionOf(db.transaction(() => db.add("tea"), { readOnly: true }));
    await db.add("milk");

    expect(error).to.include({ code: "E_DB_READ_ONLY" });
    expect(await db.names()).to.deep.equal(["milk"]);
  });

  it("refuses options that it does not know", async () => {
    await using db = await shopDatabase();
    const options = { isolation: "chaos" } as never;

    expect(await rejectionOf(db.transaction(() => 1, options))).to.include({ code: "E_DB_TRANSACTION_OPTION" });
    expect(await rejectionOf(db.transaction(() => 1, { retries: -1 }))).to.include({ code: "E_DB_TRANSACTION_OPTION" });
    expect(await rejectionOf(db.transaction(() => 1, { retry: 1 } as never))).to.include({ code: "E_OPTION" });
  });

  it("refuses the streams of Kysely", async () => {
    await using db = await shopDatabase();

    const streamed = async () => db.query.selectFrom("articles").selectAll().stream().next();

    expect(await rejectionOf(streamed())).to.include({ code: "E_DB_STREAM", status: 500 });
  });

  it("refuses the transactions of Kysely", async () => {
    await using db = await shopDatabase();
    const begun = db.query.transaction().execute(async () => {});

    expect(await rejectionOf(begun)).to.include({ code: "E_DB_KYSELY_TRANSACTION" });
  });
});

describe("a nested transaction", () => {
  it("rolls back only its own changes if it throws, and the outer transaction continues", async () => {
    await using db = await shopDatabase();

    await db.transaction(async () => {
      await db.add("tea");
      await rejectionOf(
        db.transaction(async () => {
          await db.add("milk");
          throw failure;
        }),
      );
      await db.transaction(() => db.add("sugar"));
    });

    expect(await db.names()).to.deep.equal(["tea", "sugar"]);
  });

  it("is rolled back with the outer transaction", async () => {
    await using db = await shopDatabase();

    await rejectionOf(
      db.transaction(async () => {
        await db.transaction(() => db.transaction(() => db.add("milk")));
        throw failure;
      }),
    );

    expect(await db.names()).to.deep.equal([]);
  });

  it("sends no statement if its function runs none", async () => {
    await using db = await shopDatabase();

    const events = await eventsOf(() => db.transaction(() => db.transaction(() => db.transaction(() => 1))));

    expect(events.filter((event) => event.includes("savepoint"))).to.deep.equal([]);
  });

  it("runs after its siblings, so that each rolls back only its own changes", async () => {
    await using db = await shopDatabase();
    const sibling = (name: string, fails: boolean) =>
      db.transaction(async () => {
        await db.add(name);
        await new Promise((resolve) => setImmediate(resolve));
        if (fails) throw failure;
      });

    await db.transaction(() =>
      Promise.allSettled([sibling("a", false), sibling("b", true), sibling("c", false), db.add("d")]),
    );

    expect(await db.names()).to.deep.equal(["a", "c", "d"]);
  });

  it("that waits for a later statement of the outer transaction fails when the outer function returns", async () => {
    await using db = await shopDatabase();
    let nested: Promise<unknown> = Promise.resolve();

    await db.transaction(async () => {
      let later: Promise<void> = Promise.resolve();
      nested = rejectionOf(db.transaction(() => later));
      later = db.add("tea");
    });

    expect(await nested).to.include({ code: "E_DB_TRANSACTION_OVER" });
    expect(await db.names()).to.deep.equal([]);
  });

  for (const level of ["outermost", "nested"] as const)
    it(`is rolled back, and fails, if the ${level} function around it does not wait for its end`, async () => {
      await using db = await shopDatabase();
      const seen: string[] = [];
      const endings = { "of itself": () => {}, "with its own error": () => Promise.reject(failure) };
      const strays: Promise<unknown>[] = [];
      const leave = async (end: () => unknown) => {
        const stored = new Gate();
        const stray = db.transaction(async () => {
          db.afterCommit(() => seen.push("stray"));
          await db.transaction(() => db.add("half"));
          stored.open();
          await new Promise((resolve) => setTimeout(resolve, 10));
          await end();
        });
        strays.push(rejectionOf(stray));
        await stored.passed;
        db.afterCommit(() => seen.push("around"));
      };

      for (const end of Object.values(endings))
        await db.transaction(() => (level === "outermost" ? leave(end) : db.transaction(() => leave(end))));

      const [ended, failed] = await Promise.all(strays);
      expect(ended).to.include({ code: "E_DB_TRANSACTION_OVER" });
      expect(failed).to.equal(failure);
      expect([await db.names(), seen]).to.deep.equal([[], ["around", "around"]]);
    });

  it("that continues after the outer function is no part of the next transaction", async () => {
    await using db = await shopDatabase();
    let stray: Promise<unknown> = Promise.resolve();

    await db.transaction(async () => {
      await db.transaction(() => {
        const late = db.transaction(async () => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          await db.add("stray");
        });
        stray = rejectionOf(late);
      });
      const next = db.transaction(async () => {
        await db.add("undone");
        await stray;
        throw failure;
      });
      expect(await rejectionOf(next)).to.equal(failure);
      await db.add("kept");
    });

    expect(await stray).to.include({ code: "E_DB_TRANSACTION_OVER" });
    expect(await db.names()).to.deep.equal(["kept"]);
  });

  it("takes no options", async () => {
    await using db = await shopDatabase();
    const nested = db.transaction(() => db.transaction(() => 1, { retries: 3 }));

    expect(await rejectionOf(nested)).to.include({ code: "E_DB_TRANSACTION_OPTION" });
  });
});

describe("db.current", () => {
  it("joins the transaction of the caller without a level of its own", async () => {
    await using db = await shopDatabase();

    await db.transaction(async () => {
      await rejectionOf(
        db.current(async () => {
          await db.add("tea");
          throw failure;
        }),
      );
    });

    expect(await db.names()).to.deep.equal(["tea"]);
  });

  it("starts a transaction if there is none", async () => {
    await using db = await shopDatabase();

    await rejectionOf(
      db.current(async () => {
        await db.add("tea");
        throw failure;
      }),
    );

    expect(await db.names()).to.deep.equal([]);
  });
});

describe("db.afterCommit", () => {
  it("runs once after the outermost commit, in the order of the calls", async () => {
    await using db = await shopDatabase();
    const seen: string[] = [];

    await db.transaction(async () => {
      db.afterCommit(() => seen.push("first"));
      await db.transaction(() => db.afterCommit(() => seen.push("second")));
      await db.add("tea");
      db.afterCommit(async () => seen.push(`third: ${String(await db.names())}`));
      expect(seen).to.deep.equal([]);
    });

    expect(seen).to.deep.equal(["first", "second", "third: tea"]);
  });

  it("drops the work of a transaction that rolled back", async () => {
    await using db = await shopDatabase();
    const seen: string[] = [];

    await db.transaction(async () => {
      db.afterCommit(() => seen.push("outer"));
      await rejectionOf(
        db.transaction(async () => {
          await db.transaction(() => db.afterCommit(() => seen.push("inner")));
          throw failure;
        }),
      );
    });
    await rejectionOf(
      db.transaction(() => {
        db.afterCommit(() => seen.push("never"));
        throw failure;
      }),
    );

    expect(seen).to.deep.equal(["outer"]);
  });

  it("logs a failure and runs the rest", async () => {
    await using db = await shopDatabase();
    const seen: string[] = [];

    const events = await eventsOf(() =>
      db.transaction(() => {
        db.afterCommit(() => Promise.reject(failure));
        db.afterCommit(() => seen.push("next"));
      }),
    );

    expect(seen).to.deep.equal(["next"]);
    expect(events.filter((event) => event.includes("after the commit"))).to.have.length(1);
  });

  it("runs at once outside of a transaction", async () => {
    await using db = await shopDatabase();
    const seen: string[] = [];

    db.afterCommit(() => seen.push("now"));

    expect(seen).to.deep.equal(["now"]);
  });

  it("is not delayed by the transaction of another database", async () => {
    await using db = await shopDatabase();
    await using other = await shopDatabase();
    const seen: string[] = [];

    await db.transaction(async () => {
      await other.transaction(() => other.afterCommit(() => seen.push("other")));
      expect(seen).to.deep.equal(["other"]);
    });
  });

  it("is what the current commit scope offers to other parts", async () => {
    await using db = await shopDatabase();
    const seen: string[] = [];

    await db.transaction(() => currentCommitScope()?.afterCommit(() => seen.push("mail")));

    expect([seen, currentCommitScope()]).to.deep.equal([["mail"], undefined]);
  });
});

describe("a transaction of a request that ends", () => {
  it("is rolled back at once, also while its function waits for something else", async () => {
    await using db = await shopDatabase();
    const request = new AbortController();
    const reason = new Error("the client left");
    const gate = new Gate();

    const transaction = inWorkScope(
      { signal: request.signal },
      () =>
        db.transaction(async () => {
          await db.add("tea");
          request.abort(reason);
          await gate.passed;
          await db.add("milk");
        }),
      undefined,
    );
    const ended = rejectionOf(transaction);
    // The only connection is free again: a transaction that is still open would hold it.
    await db.transaction(() => db.add("sugar"));
    gate.open();

    expect(await ended).to.equal(reason);
    expect(await db.names()).to.deep.equal(["sugar"]);
  });

  it("fails the statements that wait for a nested transaction, also if that waits for them", async () => {
    await using db = await shopDatabase();
    const request = new AbortController();
    const reason = new Error("the client left");
    const errors: unknown[] = [];
    const transaction = inWorkScope(
      { signal: request.signal },
      () =>
        db.transaction(async () => {
          let later: Promise<void> = Promise.resolve();
          const nested = db.transaction(async () => {
            await db.add("tea");
            request.abort(reason);
            await later;
          });
          later = db.add("milk");
          errors.push(await rejectionOf(nested), await rejectionOf(later));
          errors.push(await rejectionOf(db.transaction(() => errors.push("begun"))));
        }),
      undefined,
    );

    expect(await rejectionOf(transaction)).to.equal(reason);
    expect(errors).to.deep.equal([reason, reason, reason]);
    expect(await db.names()).to.deep.equal([]);
  });

  it("ends a nested transaction with the reason of the request, because no statement of it failed", async () => {
    await using db = await shopDatabase();
    const request = new AbortController();
    const reason = new Error("the client left");
    let nested: unknown;

    const transaction = inWorkScope(
      { signal: request.signal },
      () =>
        db.transaction(async () => {
          nested = await rejectionOf(
            db.transaction(async () => {
              await db.add("tea");
              request.abort(reason);
            }),
          );
        }),
      undefined,
    );

    expect(await rejectionOf(transaction)).to.equal(reason);
    expect(nested).to.equal(reason);
    expect(await db.names()).to.deep.equal([]);
  });

  it("is not started after the end of the request", async () => {
    await using db = await shopDatabase();
    const signal = AbortSignal.abort(failure);

    const begun = inWorkScope({ signal }, () => db.transaction(() => 1), undefined);

    expect(await rejectionOf(begun)).to.equal(failure);
  });
});

describe("a transaction with retries", () => {
  it("is retried after a conflict, knows its attempt, and keeps no change of the failed attempt", async () => {
    await using db = await shopDatabase();
    const seen: unknown[] = [];

    await db.transaction(
      async ({ attempt }) => {
        await db.add("tea");
        db.afterCommit(() => seen.push("committed"));
        seen.push(attempt);
        if (attempt < 3) throw conflict();
      },
      { retries: 5 },
    );

    expect([seen, await db.names()]).to.deep.equal([[1, 2, 3, "committed"], ["tea"]]);
  });

  it("gives up after the given number of retries", async () => {
    await using db = await shopDatabase();
    let runs = 0;
    const always = () => {
      runs++;
      throw conflict();
    };

    expect(await rejectionOf(db.transaction(always, { retries: 2 }))).to.include({ status: 503 });
    expect(runs).to.equal(3);
  });

  it("is not retried after another error, or without the option", async () => {
    await using db = await shopDatabase();
    let runs = 0;
    const fail = (error: Error) => () => {
      runs++;
      throw error;
    };

    await rejectionOf(db.transaction(fail(failure), { retries: 5 }));
    await rejectionOf(db.transaction(fail(conflict())));

    expect(runs).to.equal(2);
  });
});
