/** The context of an endpoint with a contract, for a unit test of its handler. */
import { expect } from "chai";
import { z } from "zod";
import { type ContextOf, guard, Post, routes } from "@stagecraft/framework";
import { context } from "@stagecraft/framework/testing";

const signedIn = guard<{ user: { id: string } }>("signed-in");

const links = routes("links", "/teams/{team}/links", {
  store: Post("/{id}", {
    guards: [signedIn],
    params: { id: z.int() },
    query: z.object({ page: z.int().default(1) }),
    body: z.object({ url: z.url() }),
  }),
});

class LinksController {
  @links.store store({ params, input, user }: ContextOf<typeof links.store>) {
    return { id: params.id + 1, team: params.team, url: input.body.url, page: input.query.page, owner: user.id };
  }
}

type StoreContext = ContextOf<typeof links.store>;

describe("the context of an endpoint", () => {
  it("has the parsed values that the test gives, and those of guards", () => {
    const ctx = context<StoreContext>({
      method: "POST",
      params: { team: "red", id: 7 },
      input: { body: { url: "https://a.example/" }, query: { page: 2 } },
      adds: { user: { id: "ada" } },
    });

    expect(new LinksController().store(ctx)).to.deep.equal({
      id: 8,
      team: "red",
      url: "https://a.example/",
      page: 2,
      owner: "ada",
    });
    expect(ctx.method).to.equal("POST");
  });

  it("takes values of the types of its contract alone", () => {
    // @ts-expect-error a capture with a schema has the type of its output
    const wrong = context<StoreContext>({ params: { team: "red", id: "7" } });
    // @ts-expect-error the guard adds a user with an id
    const other = context<StoreContext>({ adds: { user: {} } });

    expect([wrong.path, other.path]).to.deep.equal(["/", "/"]);
  });
});
