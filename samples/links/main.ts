import { assembled } from "./assembled.js";
import { Overview } from "./overview/overview.js";

const application = (await assembled(process.env)).build();
application.resolve(Overview).stages = application.pipeline();
await application.run();
