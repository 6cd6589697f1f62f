import assembled from "./app.js";
import { Overview } from "./overview/overview.js";

const application = (await assembled()).build();
application.resolve(Overview).stages = application.pipeline();
await application.run();
