import { installLogging } from "@stagecraft/framework/observe";
import application from "./app.js";

installLogging("info");
await application.build().run();
