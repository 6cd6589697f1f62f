/** The application for the command `stagecraft`, with the services that the environment names; `main.ts` runs it. */
import { assembled } from "./assembled.js";

export default () => assembled(process.env);
