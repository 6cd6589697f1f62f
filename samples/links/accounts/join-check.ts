import { Context, Injectable, type Middleware, type Next } from "@stagecraft/framework";
import { precognitive } from "@stagecraft/framework/pages";
import { NewPerson } from "./new-person.js";
import { People } from "./people.js";

/** Tells the form of a sign-up its wrong fields while it is filled in, also that a name is taken. It makes no account. */
@Injectable()
export class JoinCheck implements Middleware {
  private readonly check: Middleware;

  constructor(people: People) {
    const name = NewPerson.shape.name.refine(async (wanted) => !(await people.has(wanted)), "that name is taken");
    this.check = precognitive(NewPerson.extend({ name }));
  }

  handle(ctx: Context, next: Next) {
    return this.check.handle(ctx, next);
  }
}
