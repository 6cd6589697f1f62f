export { expectExposition } from "./expect-exposition.js";
