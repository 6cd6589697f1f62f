/** A mail server in another process, which a spec can stop and kill. */
import { MailServer } from "./mail-server.js";

await MailServer.start({ port: Number(process.env["PORT"]) });
process.stdout.write("listening\n");
