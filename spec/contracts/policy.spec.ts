/** What a policy allows and denies, as a value and through an application. */
import { expect } from "chai";
import {
  Application,
  type Context,
  Controller,
  ForbiddenError,
  Get,
  guard,
  Guards,
  inject,
  Module,
  NotFoundError,
  Policy,
  provide,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { errorOf } from "../support/error-of.js";
import { rejectionOf } from "../support/rejection-of.js";
import { loadSecondCopy } from "../support/second-copy.js";

interface User {
  readonly id: string;
}

interface Link {
  readonly owner: string;
}

class Teams {
  async includes(user: User): Promise<boolean> {
    return Promise.resolve(user.id === "ada");
  }
}

class LinkPolicy extends Policy<User, Link> {
  constructor(private readonly teams = inject(Teams)) {
    super();
  }
  update(user: User, link: Link) {
    return link.owner === user.id;
  }
  async publish(user: User, _link: Link) {
    return this.teams.includes(user);
  }
  create(user: User) {
    return user.id !== "";
  }
  move(user: User, link: Link, to: User) {
    return this.update(user, link) && to.id !== user.id;
  }
  fail(_user: User): boolean {
    throw new TypeError("the database is gone");
  }
}

class HidingPolicy extends LinkPolicy {
  override readonly denial = 404;
}

const ada = { id: "ada" };
const eve = { id: "eve" };
const link = { owner: "ada" };
const policy = new LinkPolicy(new Teams());

describe("a policy", () => {
  it("allows where its method returns true, and denies with 403 where it returns false", () => {
    expect(policy.can(ada).update(link)).to.equal(undefined);
    expect(errorOf(() => policy.can(eve).update(link)))
      .to.be.instanceOf(ForbiddenError)
      .and.to.include({ status: 403, code: "E_POLICY_DENIED" });
  });

  it("denies with 404, and in the words of a resource that does not exist, where it says so", () => {
    const hiding = new HidingPolicy(new Teams());
    const denied = errorOf(() => hiding.can(eve).update(link));
    expect(hiding.can(ada).update(link)).to.equal(undefined);
    expect(denied).to.be.instanceOf(NotFoundError).and.to.include({ status: 404, detail: undefined });
  });

  it("waits for an asynchronous ability", async () => {
    await policy.can(ada).publish(link);
    expect(await rejectionOf(policy.can(eve).publish(link))).to.be.instanceOf(ForbiddenError);
    expect(await policy.allows(ada).publish(link)).to.equal(true);
    expect(await policy.allows(eve).publish(link)).to.equal(false);
  });

  it("says whether it allows, and takes abilities of the user alone and of further arguments", () => {
    expect(policy.allows(ada).update(link)).to.equal(true);
    expect(policy.allows(eve).update(link)).to.equal(false);
    expect(policy.allows({ id: "" }).create()).to.equal(false);
    expect(policy.allows(ada).move(link, eve)).to.equal(true);
    expect(policy.allows(ada).move(link, ada)).to.equal(false);
  });

  it("passes the error of an ability on", () => {
    expect(errorOf(() => policy.can(ada).fail())).to.be.instanceOf(TypeError);
    expect(errorOf(() => policy.allows(ada).fail())).to.be.instanceOf(TypeError);
  });

  it("asks the method of the instance, so that a test may replace it", () => {
    const replaced = new LinkPolicy(new Teams());
    replaced.update = () => true;
    expect(replaced.allows(eve).update(link)).to.equal(true);
  });

  for (const result of [undefined, null, 1, "true", {}, [true], new Boolean(true)])
    it(`denies where its method returns ${JSON.stringify(result)} of type ${typeof result}, at once or in a promise`, async () => {
      class Loose extends Policy<User, Link> {
        update(_user: User, _link: Link) {
          return result as boolean;
        }
        async remove(_user: User, _link: Link) {
          return Promise.resolve(result as boolean);
        }
      }
      const loose = new Loose();
      expect(loose.allows(ada).update(link)).to.equal(false);
      expect(await loose.allows(ada).remove(link)).to.equal(false);
      expect(errorOf(() => loose.can(ada).update(link))).to.be.instanceOf(ForbiddenError);
      expect(await rejectionOf(loose.can(ada).remove(link))).to.be.instanceOf(ForbiddenError);
    });

  for (const name of ["destroy", "constructor", "toString", "__proto__", "can", "allows", "denial", "enforce", "teams"])
    it(`refuses ${name}, which is no method of its class`, () => {
      for (const abilities of [policy.can(ada), policy.allows(ada)])
        expect(errorOf(() => Reflect.get(abilities, name))).to.include({
          code: "E_POLICY_ABILITY",
          message: `LinkPolicy has no ability ${name}: write a method of that name`,
        });
    });

  it("has the abilities of fields, and refuses a field that is no function", () => {
    class Fields extends Policy<User, Link> {
      readonly limit: unknown = 7;
      readonly update = (user: User, { owner }: Link) => owner === user.id;
    }
    const fields = new Fields();

    expect([fields.allows(ada).update(link), fields.allows(eve).update(link)]).to.deep.equal([true, false]);
    expect(errorOf(() => fields.can(eve).update(link))).to.be.instanceOf(ForbiddenError);
    expect(errorOf(() => Reflect.get(fields.can(ada), "limit"))).to.include({ code: "E_POLICY_ABILITY" });
  });

  it("is not taken for a promise where its abilities are awaited or returned", async () => {
    const abilities = await Promise.resolve(policy.can(ada));
    expect(abilities.update(link)).to.equal(undefined);
  });

  it("is injected, and its denial is the response", async () => {
    const signedIn = guard<{ user: User }>("signed-in");
    class Accounts {
      @Guards(signedIn) check(ctx: Context) {
        return { user: { id: ctx.get("authorization") } };
      }
    }
    @Controller("/links")
    class Links {
      constructor(private readonly policies = inject(LinkPolicy)) {}
      @Get("/{id}", { guards: [signedIn] }) async show({ user }: Context<"id"> & { user: User }) {
        await this.policies.can(user).publish(link);
        this.policies.can(user).update(link);
        return "shown";
      }
    }
    @Module({ controllers: [Links], providers: [Accounts, Teams, LinkPolicy] })
    class Shop {}

    await using app = await testApp(Shop);
    await using hiding = await testApp(Application.create(Shop), provide(LinkPolicy).useClass(HidingPolicy));
    const headers = { authorization: "eve" };

    expect((await app.get("/links/1", { headers: { authorization: "ada" } })).status).to.equal(200);
    expect((await app.get("/links/1", { headers })).status).to.equal(403);
    expect((await hiding.get("/links/1", { headers })).status).to.equal(404);
  });

  it("of a second copy of the package stops the start", async () => {
    using copy = await loadSecondCopy();
    class Foreign extends copy.Policy<User, Link> {}
    @Module({ providers: [Foreign] })
    class Shop {}
    expect(errorOf(() => Application.create(Shop).build()).message).to.include("E_TWO_COPIES the policy");
  });
});
