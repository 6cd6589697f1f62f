/** The compiler ends its refusal of a guard or a policy with the sentence of the framework, in both kinds of decorators. */
import { expect } from "chai";
import { CHECKED, DECORATOR_KINDS, getLastLine, splitMessages } from "../support/compiler-messages.js";
import { Consumer } from "../support/consumer.js";

const WRONG = `
import { type Context, Get, Policy, guard, Guards, resource, routes } from "@stagecraft/framework";

interface User { readonly id: string }
interface Link { readonly owner: string }
const signedIn = guard<{ user: User }>("signed-in");
const role = guard<{ roles: readonly string[] }, [role: string]>("role");
const plain = guard("plain");
const links = routes("links", "/links", { show: Get("/{id}") });

export class Wrong {
  @Guards(signedIn) none() { return {}; }
  @Guards(plain) refuses() { return false; }
  @Guards(role) other(_ctx: Context, _role: number) { return { roles: [] }; }
  @links.show show({ user }: Context & { user: User }) { return user; }
}
export const taken = guard<{ params: string }>("taken");
export const uncalled = Get("/", { guards: [role] });
export const table = routes("t", "/t", {}, { guards: [role] });
export const photos = resource("p", "/p", { guards: [role] });

class LinkPolicy extends Policy<User, Link> {
  score(_user: User, _link: Link) { return 1; }
  ofTeam(user: { readonly team: string }) { return user.team !== ""; }
}
export const scored = (policy: LinkPolicy, user: User, link: Link) => policy.can(user).score(link);
export const flown = (policy: LinkPolicy, user: User, link: Link) => policy.can(user).fly(link);
export const joined = (policy: LinkPolicy, user: User) => policy.can(user).ofTeam();
`;

const UNCALLED = '"this guard takes arguments: call it with them"';

const SENTENCES = [
  '"the method does not return the values that this guard adds to the context"',
  '"this guard adds no values to the context: its method returns nothing"',
  '"the method asks for arguments that this guard does not take, or for values of guards that it does not name in after"',
  '"the handler asks for values that the path /links/{id}, its schemas and its guards do not give"',
  '"a guard adds a name that Context has already: choose another name"',
  UNCALLED,
  UNCALLED,
  UNCALLED,
  '"an ability returns a boolean or a promise of one"',
  '"the policy has no ability of this name"',
  '"this ability is for another user or resource than its policy"',
];

describe("the compiler", function () {
  this.timeout(240_000);

  for (const [kind, experimentalDecorators] of Object.entries(DECORATOR_KINDS))
    it(`ends its refusal of a guard or a policy with a sentence, with ${kind} decorators`, async () => {
      using consumer = Consumer.create();
      consumer.installFromRepository("@types/node");
      consumer.write("wrong.ts", WRONG);

      const output = await consumer.compile(["wrong.ts"], { ...CHECKED, experimentalDecorators });

      const lines = splitMessages(output).map(getLastLine);
      expect(lines).to.have.length(SENTENCES.length);
      for (const [index, sentence] of SENTENCES.entries()) expect(lines[index]).to.include(sentence);
    });
});
