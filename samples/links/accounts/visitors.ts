import {
  Context,
  Guards,
  Injectable,
  middleware,
  type Next,
  NotFoundError,
  redirect,
  UnauthorizedError,
} from "@stagecraft/framework";
import { Flash } from "@stagecraft/framework/session";
import { account } from "./account.routes.js";
import { operator, signedIn } from "./guards.js";
import { findVisitor, isAdmin } from "./visitor.js";

/** The person who has to sign in first. */
class UnknownVisitorError extends UnauthorizedError {}

/** The guards of pages: they ask the session of the visitor. */
@Injectable()
export class Visitors {
  @Guards(signedIn)
  async require(ctx: Context) {
    const visitor = await findVisitor(ctx);
    if (visitor === undefined) throw new UnknownVisitorError();
    return { visitor };
  }

  @Guards(operator)
  async requireOperator(ctx: Context) {
    if (!(await isAdmin(ctx))) throw new NotFoundError();
  }
}

/** Leads people whom `signedIn` refuses to the sign-in. A layer of the application, because guards run before all other middleware. */
export const SignInFirst = middleware(async function signInFirst(ctx: Context, next: Next) {
  try {
    return await next();
  } catch (error) {
    if (!(error instanceof UnknownVisitorError)) throw error;
    Flash.of(ctx).warning("Please sign in first.");
    return redirect().route(account.signIn);
  }
});
