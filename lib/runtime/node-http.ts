/**
 * The values of `node:http`; its types are imported as ever. An `import` of the module reads all its exports, and one of them, `WebSocket`,
 * loads undici: a tenth of the start of a small application on Node 24. No other file of the library imports values of the module.
 */
export const nodeHttp = process.getBuiltinModule("node:http");
