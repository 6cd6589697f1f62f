/** Legacy decorators applied by hand, as the TypeScript compiler would, so that NestJS needs no build of its own. */
import "reflect-metadata";

/** `members` maps a method to its own decorators and to those of its parameters. */
export function decorate(target, { types = [], on = [], members = {} }) {
  for (const [name, { on: decorators, parameters = [] }] of Object.entries(members)) {
    Reflect.defineMetadata(
      "design:paramtypes",
      parameters.map(() => Object),
      target.prototype,
      name,
    );
    parameters.forEach((decorator, index) => decorator(target.prototype, name, index));
    const descriptor = Object.getOwnPropertyDescriptor(target.prototype, name);
    for (const decorator of decorators) decorator(target.prototype, name, descriptor);
  }
  Reflect.defineMetadata("design:paramtypes", types, target);
  for (const decorator of on) decorator(target);
  return target;
}
