/** `npm run build` runs this after the compiler. */
import { buildFrontEnd } from "./build-front-end.js";

if (await buildFrontEnd()) console.error("built the front end of samples/links");
