/**
 * The entry points with code of the server under the condition `browser`: a bundler for a browser cannot resolve the name, and prints it.
 */
// @ts-expect-error The file does not exist: a bundle of server code for a browser has to fail.
export * from "./a front end imports code of the server; import @stagecraft/framework/routes instead";
