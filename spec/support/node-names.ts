/** False where `--conditions=stagecraft-public-node` has the library use Node's documented API alone. */
export const usesPrivateNames = import.meta.resolve("#node-internals").endsWith("/node-internals.js");
