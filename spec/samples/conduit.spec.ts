/** The sample of the RealWorld API. The public collection of requests judges it too: `npm run conduit:judge`. */
import { Clock, provide } from "@stagecraft/framework";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { conduitApplication } from "../../samples/conduit/application.js";
import { ArticleLists } from "../../samples/conduit/articles/article-lists.js";
import { Articles } from "../../samples/conduit/articles/articles.js";
import { Comments } from "../../samples/conduit/articles/comments.js";
import { fileDatabase } from "../../samples/conduit/database.js";
import { settingsFrom } from "../../samples/conduit/settings.js";
import { cheapPasswords } from "../support/cheap-passwords.js";
import { errorOf } from "../support/error-of.js";
import { judgeResponses } from "../support/judged-responses.js";
import { describeConduit } from "../support/sample-documents.js";

interface Article {
  readonly slug: string;
  readonly title: string;
  readonly body?: string;
  readonly tagList: readonly string[];
  readonly favorited: boolean;
  readonly favoritesCount: number;
  readonly author: { readonly username: string; readonly following: boolean };
}

/** The members of all responses. */
interface Body {
  readonly user?: { readonly username: string; readonly bio: string | null; readonly token: string };
  readonly profile?: { readonly following: boolean };
  readonly article?: Article;
  readonly articles?: readonly Article[];
  readonly articlesCount?: number;
  readonly comment?: { readonly id: number };
  readonly comments?: readonly { readonly body: string }[];
  readonly tags?: readonly string[];
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

interface ApiResponse extends Body {
  readonly status: number;
}

type Send = (method: string, path: string, json?: unknown) => Promise<ApiResponse>;

const DAY_MS = 86_400_000;
const PASSWORD = "correct horse";
const KEY = "5e".repeat(64);

function started(clock = new FakeClock(), key = KEY): Promise<TestApp> {
  const application = conduitApplication(settingsFrom({ TOKEN_KEY: key }), fileDatabase(":memory:"));
  return testApp(application, provide(Clock).useValue(clock), cheapPasswords());
}

/** The requests of a user, or of a visitor. */
function as(app: TestApp, token?: string): Send {
  const headers = token === undefined ? {} : { Authorization: `Token ${token}` };
  return async (method, path, json) => {
    const response = await app.request(`/api${path}`, { method, headers, ...(json !== undefined && { json }) });
    const text = await response.text();
    return { ...(text === "" ? {} : (JSON.parse(text) as Body)), status: response.status };
  };
}

async function tokenOf(app: TestApp, username: string): Promise<string> {
  const user = { username, email: `${username}@example.org`, password: PASSWORD };
  return (await as(app)("POST", "/users", { user })).user?.token ?? "";
}

async function joined(app: TestApp, username: string): Promise<Send> {
  return as(app, await tokenOf(app, username));
}

async function published(send: Send, title: string, tagList: readonly string[] = []): Promise<string> {
  const article = { title, description: "about", body: "text", tagList };
  return (await send("POST", "/articles", { article })).article?.slug ?? "";
}

function slugs({ articles = [] }: ApiResponse): readonly string[] {
  return articles.map(({ slug }) => slug);
}

describe("samples/conduit", function () {
  this.timeout(120_000);
  judgeResponses(describeConduit);

  it("signs users up and in, and changes what they give", async () => {
    await using app = await started();
    const ada = await joined(app, "ada");

    const signedIn = await as(app)("POST", "/users/login", { user: { email: "ada@example.org", password: PASSWORD } });
    const changed = await ada("PUT", "/user", { user: { bio: "a bio", image: "" } });
    const unchanged = await ada("PUT", "/user", { user: {} });

    expect(signedIn.user?.username).to.equal("ada");
    expect(changed.user?.bio).to.equal("a bio");
    expect(unchanged.user?.bio).to.equal("a bio");
    expect(JSON.stringify(changed)).not.to.contain(PASSWORD);
  });

  it("refuses with a status and a message under the name of its subject", async () => {
    await using app = await started();
    const [visitor, ada, bob] = [as(app), await joined(app, "ada"), await joined(app, "bob")];
    const slug = await published(ada, "A title");
    const id = (await ada("POST", `/articles/${slug}/comments`, { comment: { body: "mine" } })).comment?.id ?? 0;
    const eve = { username: "eve", email: "eve@example.org", password: PASSWORD };
    const article = { title: "t", description: "d", body: "b" };

    const refusals: readonly (readonly [Send, string, string, unknown, number, string, string])[] = [
      [visitor, "POST", "/users", { user: { ...eve, username: "" } }, 422, "username", "can't be blank"],
      [visitor, "POST", "/users", { user: { ...eve, username: { $ne: 1 } } }, 422, "username", "can't be blank"],
      [
        visitor,
        "POST",
        "/users",
        { user: { ...eve, email: "eve@x\r\nBcc: a@b.org" } },
        422,
        "email",
        "is not an address",
      ],
      [
        visitor,
        "POST",
        "/users",
        { user: { ...eve, password: "short7c" } },
        422,
        "password",
        "is shorter than 8 characters",
      ],
      [visitor, "POST", "/users", { user: { ...eve, username: "ada" } }, 409, "username", "has already been taken"],
      [
        visitor,
        "POST",
        "/users",
        { user: { ...eve, email: "ada@example.org" } },
        409,
        "email",
        "has already been taken",
      ],
      [bob, "PUT", "/user", { user: { username: "ada" } }, 409, "username", "has already been taken"],
      [
        visitor,
        "POST",
        "/users/login",
        { user: { email: "ada@example.org", password: "wrong" } },
        401,
        "credentials",
        "invalid",
      ],
      [
        visitor,
        "POST",
        "/users/login",
        { user: { email: "eve@example.org", password: "wrong" } },
        401,
        "credentials",
        "invalid",
      ],
      [visitor, "GET", "/user", undefined, 401, "token", "is missing"],
      [visitor, "GET", "/articles/feed", undefined, 401, "token", "is missing"],
      [visitor, "GET", "/profiles/nobody", undefined, 404, "profile", "not found"],
      [visitor, "GET", "/articles/none", undefined, 404, "article", "not found"],
      [ada, "POST", "/articles", { article: { ...article, title: " " } }, 422, "title", "can't be blank"],
      [
        ada,
        "POST",
        "/articles",
        { article: { ...article, title: "x".repeat(201) } },
        422,
        "title",
        "is longer than 200 characters",
      ],
      [
        ada,
        "PUT",
        `/articles/${slug}`,
        { article: { tagList: Array.from({ length: 21 }, String) } },
        422,
        "tagList",
        "are more than 20",
      ],
      [
        ada,
        "PUT",
        `/articles/${slug}`,
        { article: { tagList: null } },
        422,
        "tagList",
        "Invalid input: expected array, received null",
      ],
      [ada, "PUT", "/user", { user: { email: null } }, 422, "email", "can't be blank"],
      [ada, "PUT", "/user", { user: { username: null } }, 422, "username", "can't be blank"],
      [ada, "POST", "/articles", { article: { ...article, body: "a\0b" } }, 422, "body", "has a NUL character"],
      [ada, "PUT", "/user", { user: { bio: "a\0b" } }, 422, "bio", "has a NUL character"],
      [
        visitor,
        "POST",
        "/users/login",
        { user: { email: "a\0@example.org", password: "wrong" } },
        422,
        "email",
        "has a NUL character",
      ],
      [visitor, "GET", "/articles?tag=%00", undefined, 422, "tag", "has a NUL character"],
      [visitor, "GET", "/articles?author=%00", undefined, 422, "author", "has a NUL character"],
      [visitor, "GET", "/articles?favorited=%00", undefined, 422, "favorited", "has a NUL character"],
      [bob, "PUT", `/articles/${slug}`, { article: { body: "mine now" } }, 403, "article", "forbidden"],
      [bob, "DELETE", `/articles/${slug}`, undefined, 403, "article", "forbidden"],
      [bob, "DELETE", `/articles/${slug}/comments/${id}`, undefined, 403, "comment", "forbidden"],
      [ada, "DELETE", `/articles/${slug}/comments/99`, undefined, 404, "comment", "not found"],
      [ada, "DELETE", `/articles/${slug}/comments/1e3`, undefined, 422, "id", "Expected a whole number."],
    ];
    for (const [send, method, path, json, status, subject, message] of refusals) {
      const response = await send(method, path, json);
      const what = `${method} ${path} ${JSON.stringify(json)}`;
      expect([response.status, response.errors?.[subject]?.[0]], what).to.deep.equal([status, message]);
    }
  });

  it("lists articles by tag, author and favorite, the newest first, with sorted tags, a page at a time", async () => {
    await using app = await started();
    const [ada, bob] = [await joined(app, "ada"), await joined(app, "bob")];
    const [first, second] = [await published(ada, "One title", ["b", "a"]), await published(ada, "One title", ["a"])];
    const third = await published(bob, "Another");
    await bob("POST", `/articles/${first}/favorite`);
    const seen = async (query: string): Promise<readonly string[]> => slugs(await bob("GET", `/articles?${query}`));

    expect(first).not.to.equal(second);
    expect(await seen("")).to.deep.equal([third, second, first]);
    expect(await seen("tag=b")).to.deep.equal([first]);
    expect(await seen("author=ada")).to.deep.equal([second, first]);
    expect(await seen("favorited=bob")).to.deep.equal([first]);
    expect(await seen("favorited=bob&author=bob")).to.deep.equal([]);
    expect(await seen("limit=1&offset=1")).to.deep.equal([second]);
    const { errors } = await bob("GET", "/articles?limit=x&offset=-1");
    expect(Object.keys(errors ?? {})).to.deep.equal(["limit", "offset"]);
    const { article } = await bob("GET", `/articles/${first}`);
    expect(article).to.deep.include({ tagList: ["a", "b"], favorited: true, favoritesCount: 1, body: "text" });
    expect((await ada("GET", `/articles/${first}`)).article?.favorited).to.equal(false);
    expect((await ada("GET", "/tags")).tags).to.deep.equal(["a", "b"]);
  });

  it("reads a page of articles of any length in three statements", async () => {
    await using app = await started();
    const ada = await joined(app, "ada");
    for (let at = 0; at < 25; at++) await published(ada, `Title ${at}`, ["tag"]);
    const statements = (): number => app.logs.lines().filter((line) => line.includes(`"framework::db"`)).length;
    const before = statements();

    const { articles, articlesCount } = await ada("GET", "/articles");

    expect([articles?.length, articlesCount]).to.deep.equal([20, 25]);
    expect(statements() - before).to.equal(3);
  });

  it("fills the feed with the articles of followed authors", async () => {
    await using app = await started();
    const [ada, bob] = [await joined(app, "ada"), await joined(app, "bob")];
    const slug = await published(bob, "Bob's");
    await published(ada, "Ada's");

    const before = await ada("GET", "/articles/feed");
    const { profile } = await ada("POST", "/profiles/bob/follow");
    const after = await ada("GET", "/articles/feed");
    await ada("DELETE", "/profiles/bob/follow");

    expect(before.articlesCount).to.equal(0);
    expect(profile?.following).to.equal(true);
    expect(slugs(after)).to.deep.equal([slug]);
    expect(after.articles?.[0]?.author).to.deep.include({ username: "bob", following: true });
    expect((await ada("GET", "/articles/feed")).articlesCount).to.equal(0);
  });

  it("changes an article with its tags, and removes it with its comments and favorites", async () => {
    await using app = await started();
    const ada = await joined(app, "ada");
    const slug = await published(ada, "Old", ["kept"]);
    await ada("POST", `/articles/${slug}/comments`, { comment: { body: "first" } });
    await ada("POST", `/articles/${slug}/favorite`);

    const kept = await ada("PUT", `/articles/${slug}`, { article: { body: "new" } });
    const changed = await ada("PUT", `/articles/${slug}`, { article: { title: "New title", tagList: [] } });
    const renamed = changed.article?.slug ?? "";
    const { comments } = await ada("GET", `/articles/${renamed}/comments`);
    const removed = await ada("DELETE", `/articles/${renamed}`);

    expect([kept.article?.body, kept.article?.tagList]).to.deep.equal(["new", ["kept"]]);
    expect(renamed).to.match(/^new-title-/);
    expect(changed.article?.tagList).to.deep.equal([]);
    expect(comments?.map(({ body }) => body)).to.deep.equal(["first"]);
    expect(removed.status).to.equal(204);
    expect((await ada("GET", "/articles")).articlesCount).to.equal(0);
    expect((await ada("GET", "/tags")).tags).to.deep.equal([]);
  });

  it("takes no token that is old, changed, or signed with a key that is not in its list", async () => {
    const clock = new FakeClock();
    await using app = await started(clock);
    await using other = await started(clock, "77".repeat(64));
    const [token, foreign] = [await tokenOf(app, "ada"), await tokenOf(other, "ada")];
    const status = async (text: string): Promise<number> => (await as(app, text)("GET", "/user")).status;

    expect(await status(token)).to.equal(200);
    for (const wrong of [foreign, `2${token.slice(1)}`, token.slice(0, -1), "1", "x".repeat(5000)])
      expect(await status(wrong), wrong.slice(0, 20)).to.equal(401);
    await using replaced = await started(clock, `${"77".repeat(64)},${KEY}`);
    await tokenOf(replaced, "ada");
    expect((await as(replaced, token)("GET", "/user")).status).to.equal(200);
    await clock.advanceAsync(31 * DAY_MS);
    expect(await status(token)).to.equal(401);
  });

  it("gives every title a slug that has a URL, and no two articles the same", async () => {
    await using app = await started();
    const ada = await joined(app, "ada");
    for (const title of [
      "xİ\u{1D49C}".repeat(50),
      "\u{1F600}",
      "../..",
      "feed",
      "%00",
      "a".repeat(200),
      "ǅ".repeat(200),
    ]) {
      const [first, second] = [await published(ada, title), await published(ada, title)];

      expect(first, title).to.match(/-[0-9a-f]{8}$/);
      expect(second).not.to.equal(first);
      const { article } = await ada("GET", `/articles/${encodeURIComponent(first)}`);
      expect([article?.slug, article?.title]).to.deep.equal([first, title]);
    }
  });

  it("names neither tables nor columns to the user of a token whose user is gone", async () => {
    const clock = new FakeClock();
    await using app = await started(clock);
    await using emptied = await started(clock);
    const gone = as(emptied, await tokenOf(app, "ada"));

    const responses = [
      await gone("POST", "/articles", { article: { title: "t", description: "d", body: "b" } }),
      await gone("GET", "/user"),
      await gone("PUT", "/user", { user: { bio: "x" } }),
    ];

    expect(responses.map(({ status }) => status)).to.deep.equal([409, 401, 401]);
    expect(JSON.stringify(responses)).not.to.match(/constraint|foreign key|articles/i);
  });

  it("takes the signs of patterns in a filter for themselves", async () => {
    await using app = await started();
    const ada = await joined(app, "ada");
    await published(ada, "Title", ["tag", "100%"]);
    const count = async (query: string): Promise<unknown> => (await ada("GET", `/articles?${query}`)).articlesCount;

    expect(await count("tag=%25")).to.equal(0);
    expect(await count("tag=t_g")).to.equal(0);
    expect(await count("author=%25&favorited=%25")).to.equal(0);
    expect(await count("author=a'%20OR%201=1--")).to.equal(0);
    expect(await count("tag=100%25")).to.equal(1);
  });

  it("gives at most 500 comments, the newest", async () => {
    await using app = await started();
    const ada = await joined(app, "ada");
    const slug = await published(ada, "Title");
    const article = await app.resolve(Articles).getId(slug);
    const comments = app.resolve(Comments);
    for (let at = 0; at <= 500; at++) await comments.add(article, 1, String(at));

    const response = await ada("GET", `/articles/${slug}/comments`);

    expect([response.comments?.length, response.comments?.[0]?.body, response.comments?.at(-1)?.body]).to.deep.equal([
      500,
      "500",
      "1",
    ]);
  });

  it("does not start with a key of tokens that can be guessed", () => {
    expect(errorOf(() => settingsFrom({ TOKEN_KEY: "secret" })).message)
      .to.include("TOKEN_KEY")
      .and.include("128 hexadecimal characters")
      .and.not.include("secret");
  });

  it("says nothing about an error that it does not expect", async () => {
    const failing = {
      tags: () => Promise.reject(new Error("a secret")),
      page: () => Promise.reject(new Error("a secret")),
      find: () => Promise.reject(new Error("a secret")),
    };
    const application = conduitApplication(settingsFrom({}), fileDatabase(":memory:"));
    await using app = await testApp(application, provide(ArticleLists).useValue(failing as unknown as ArticleLists));

    const response = await as(app)("GET", "/tags");

    expect(response).to.deep.equal({ status: 500, errors: { body: ["something went wrong"] } });
  });
});
