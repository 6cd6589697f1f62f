/** The options of mocha. `npm test` builds `dist` first, where the files and their order are found. */
import { fileURLToPath } from "node:url";
import { orderedFiles } from "./dist/spec/support/file-order.js";

// From Node 22 on, the processes of a run and of the next one share what they have compiled.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("dist/compiled", import.meta.url));

export default {
  spec: orderedFiles(),
  require: ["dist/spec/support/setup.js"],
  "node-option": ["enable-source-maps"],
  timeout: 60_000,
  "forbid-only": true,
  parallel: true,
  jobs: 4,
};
