/** A process that only runs jobs: those of the processes that serve with `WORKER=elsewhere`, and its share of the others. */
import { assembled } from "./assembled.js";

const application = await assembled(process.env);
await application.build().work();
