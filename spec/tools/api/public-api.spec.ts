/** The text of the public API, from declaration files that are given as texts. */
import { expect } from "chai";
import { publicApi } from "./public-api.js";

type Files = Readonly<Record<string, string>>;

/** The API of `main.d.ts` as the entry point "shop", without its introduction. */
async function apiOf(files: Files, entries: Files = { shop: "main.d.ts" }): Promise<string> {
  const text = await publicApi(entries, (path) => files[path] ?? "");
  return text.slice(text.indexOf("== "));
}

const NOTHING_BEHIND = "\n\n== behind them, not exported\n\n";

describe("the public API", () => {
  it("shows each exported name with its signature, in the order of the names", async () => {
    const files = {
      "main.d.ts": 'export { b, type A } from "./parts.js";\nexport declare const C: 3;',
      "parts.d.ts":
        "export interface A { readonly id: string }\nexport declare function b(a: A): void;\nexport declare class Z {}",
    };

    const api = await apiOf(files);

    expect(api).to.equal(
      `== shop\n\ninterface A {\n  readonly id: string;\n}\nconst C: 3;\nfunction b(a: A): void;\n${NOTHING_BEHIND}`,
    );
  });

  it("shows every overload, and both halves of an interface and a class of one name", async () => {
    const api = await apiOf({
      "main.d.ts":
        "export declare function f(): void;\nexport declare function f(a: 1): void;\nexport interface K {}\nexport declare class K {}",
    });

    expect(api).to.contain("interface K {}\nclass K {}\nfunction f(): void;\nfunction f(a: 1): void;\n");
  });

  it("shows no comment and no private member, but a private constructor", async () => {
    const api = await apiOf({
      "main.d.ts": `/** What it is. */
export declare class K {
    #a;
    private readonly b;
    private static c();
    /** Why. */
    protected d(): void;
    private constructor();
}`,
    });

    expect(api).to.contain("class K {\n  protected d(): void;\n  private constructor();\n}\n");
  });

  it("is the same however the lines of a declaration are broken", async () => {
    const one = await apiOf({ "main.d.ts": 'export type T = "a" | "b";' });
    const two = await apiOf({ "main.d.ts": 'export type T =\n    | "a"\n\n    | "b"\n;' });

    expect(one).to.equal(two);
  });

  it("follows a name through files, also under another name", async () => {
    const api = await apiOf({
      "main.d.ts": 'export { inner as outer } from "./one/a.js";',
      "one/a.d.ts": 'import { deep } from "../two/b.js";\nexport { deep as inner };',
      "two/b.d.ts": "export declare function deep(): 1;",
    });

    expect(api).to.contain("outer: function deep(): 1;\n");
  });

  it("shows the types behind the signatures, which no entry point exports, and the types behind these", async () => {
    const api = await apiOf({
      "main.d.ts":
        'import { Base } from "./base.js";\nimport type { Far } from "package";\nexport declare class K extends Base<Far> {}',
      "base.d.ts":
        "interface Deep { x: 1 }\nexport declare class Base<T> { deep: Deep; private hidden: Hidden }\ninterface Hidden {}",
    });

    expect(api).to.equal(
      "== shop\n\nclass K extends Base<Far> {}\n\n\n== behind them, not exported\n\nclass Base<T> {\n  deep: Deep;\n}\ninterface Deep {\n  x: 1;\n}\n",
    );
  });

  it("shows a declaration of two entry points once", async () => {
    const files = {
      "main.d.ts": 'export { T } from "./t.js";',
      "more.d.ts": 'export { T } from "./t.js";\nexport * as all from "./main.js";',
      "t.d.ts": "export type T = 1;",
    };

    const api = await apiOf(files, { shop: "main.d.ts", "shop/more": "more.d.ts" });

    expect(api).to.equal(
      `== shop\n\ntype T = 1;\n\n\n== shop/more\n\nT: as in shop\nall: everything of ./main.js\n${NOTHING_BEHIND}`,
    );
  });

  it("refuses an export without a declaration", async () => {
    const error = await apiOf({ "main.d.ts": 'export { gone } from "./t.js";', "t.d.ts": "" }).catch(
      (thrown: unknown) => thrown,
    );

    expect(error).to.have.property("message", "shop exports gone, which ./t.js does not declare");
  });
});
