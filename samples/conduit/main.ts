import { installLogging } from "@stagecraft/framework/observe";
import application from "./app.js";

installLogging("info");
await (await application()).build().run();
