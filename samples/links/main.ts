import { linksApplication } from "./application.js";

await linksApplication().build().run();
