/** Koa's prototypes, which its typings leave out. */
declare module "koa/lib/context.js" {
  const prototype: { assert(condition: unknown, status: number): void };
  export default prototype;
}
declare module "koa/lib/request.js" {
  const prototype: object;
  export default prototype;
}
declare module "koa/lib/response.js" {
  const prototype: { back(alternative: string): void };
  export default prototype;
}
