import { MemoryMailer } from "@stagecraft/framework/mail";
import { obeysMailer } from "@stagecraft/framework/testing/contracts";

const mailer = new MemoryMailer({ from: "notes@example.org" });
await obeysMailer(mailer, {
  arrived: () => mailer.sent.map(({ bytes }) => Buffer.from(bytes).toString("latin1")),
});
console.log("works");
