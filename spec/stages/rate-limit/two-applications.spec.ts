/** A handle in a decorator outlives an application: the quota of one application is none of another. */
import { Controller, Get, Middleware, Module, RateLimit } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";

const handle = RateLimit.perMinute(2);

@Controller("/")
@Middleware(handle)
class Home {
  @Get("/")
  index(): string {
    return "in";
  }

  @Get("/other")
  other(): string {
    return "in";
  }
}

@Module({ controllers: [Home] })
class Shop {}

async function statuses(): Promise<readonly number[]> {
  await using app = await testApp(Shop);
  const responses = [await app.get("/"), await app.get("/other"), await app.get("/")];
  return responses.map(({ status }) => status);
}

describe("a rate limit of a decorator", () => {
  it("has its own buckets in each application, and one quota for all its routes", async () => {
    expect([await statuses(), await statuses()]).to.deep.equal([
      [200, 200, 429],
      [200, 200, 429],
    ]);
  });

  it("counts the requests of two applications separately while both serve", async () => {
    await using one = await testApp(Shop);
    await using other = await testApp(Shop);

    const responses = [await one.get("/"), await one.get("/"), await other.get("/"), await one.get("/")];

    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 200, 429]);
  });
});
