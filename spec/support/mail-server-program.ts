/** A mail server in a process of its own, to be stopped and killed. */
import { MailServer } from "./mail-server.js";

await MailServer.start({ port: Number(process.env["PORT"]) });
process.stdout.write("listening\n");
