import { expect } from "chai";
import { MessageLink } from "../../../lib/server/workers/worker-link.js";

describe("the link of a worker", () => {
  it("has 1000 messages wait for a reader, loses further ones, and tells of each", () => {
    const sent: (() => void)[] = [];
    let overflows = 0;
    const link = new MessageLink(
      (_message, _socket, done) => sent.push(done),
      () => (overflows += 1),
    );

    for (let count = 0; count < 1002; count++) link.tell("topic");
    expect([sent.length, overflows]).to.deep.equal([1000, 2]);
    sent[0]?.();
    link.tell("topic");

    expect([sent.length, overflows]).to.deep.equal([1001, 2]);
  });

  it("is empty when its last message has left", async () => {
    const sent: (() => void)[] = [];
    const link = new MessageLink(
      (_message, _socket, done) => sent.push(done),
      () => undefined,
    );
    link.tell("first");
    link.tell("second");
    let isEmpty = false;
    const flushed = link.flush().then(() => (isEmpty = true));

    sent[0]?.();
    await Promise.resolve();
    expect(isEmpty).to.equal(false);
    sent[1]?.();
    await flushed;
    expect(isEmpty).to.equal(true);
  });

  it("hears its own messages alone", () => {
    const heard: unknown[] = [];
    const messages: object[] = [];
    const link = new MessageLink(
      (message) => messages.push(message),
      () => undefined,
    );
    link.hear("topic", (body) => heard.push(body));
    link.tell("topic", { on: true });
    link.tell("another topic", 1);

    for (const message of [null, "text", { topic: "topic" }, { cmd: "NODE_other" }, ...messages])
      link.receive(message, undefined);

    expect(heard).to.deep.equal([{ on: true }]);
  });
});
