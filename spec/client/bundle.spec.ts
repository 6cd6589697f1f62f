/** The client in a bundle for a browser: its size, what it holds, and that code of the server fails it. */

import { expect } from "chai";
import type { BuildFailure } from "esbuild";
import { createManifest } from "../../lib/client/create-manifest.js";
import * as browserEdition from "../../lib/entries/routes-in-a-browser.js";
import * as serverEdition from "../../lib/entries/routes.js";
import { bundleForBrowser } from "../support/browser-bundle.js";

const MAX_BYTES = 4096;

async function messageOf(contents: string): Promise<string> {
  const failure = await bundleForBrowser(contents).catch((error: unknown) => error as BuildFailure);
  return "errors" in failure ? failure.errors.map(({ text }) => text).join("\n") : "it was bundled";
}

const TABLE = `
  import { z } from "zod";
  import { Get, Post, routes } from "@stagecraft/framework/routes";
  export const links = routes("links", "/links", {
    store: Post("/", { body: z.object({ url: z.url() }), responses: { 201: z.object({ id: z.int() }) } }),
    show: Get("/{id}", { params: { id: z.int() }, responses: { 200: z.object({ id: z.int() }) } }),
  });`;

describe("the routes in a bundle for a browser", function () {
  this.timeout(60_000);

  it(`have less than ${MAX_BYTES} compressed bytes, and nothing of Node`, async () => {
    const { bytes, files } = await bundleForBrowser(`export * from "@stagecraft/framework/routes";`);
    console.log(`      ${bytes} bytes with everything`);

    expect(bytes).to.be.below(MAX_BYTES);
    expect(files).to.have.property("length").above(5);
    expect(files.filter((file) => file.startsWith("node:"))).to.deep.equal([]);
  });

  it("bundle no schema library where the table is a type, and its manifest the value", async () => {
    const { links } = await tableOf();
    const manifest = JSON.stringify(createManifest(links));
    const use = `const api = client<typeof links>(source, { origin: "" }); console.log(await api.show({ params: { id: 7 } }));`;
    const start = `import { client } from "@stagecraft/framework/routes";`;
    const whole = await bundleForBrowser(`${TABLE} ${start} const source = links; ${use}`);
    const small = await bundleForBrowser(
      `import type { links } from "./links"; ${start} const source = ${manifest}; ${use}`,
    );
    console.log(`      ${whole.bytes} bytes with the table, ${small.bytes} with its manifest`);

    expect(whole.files.some((file) => file.includes("node_modules/zod"))).to.equal(true);
    expect(small.files.filter((file) => file.includes("node_modules"))).to.deep.equal([]);
    expect(small.bytes).to.be.below(whole.bytes);
  });

  for (const entry of ["@stagecraft/framework", "@stagecraft/framework/session", "@stagecraft/framework/uploads"]) {
    it(`fail with a sentence where a file imports ${entry}`, async () => {
      const message = await messageOf(`${TABLE} export * from "${entry}";`);

      expect(message).to.contain("a front end imports code of the server; import @stagecraft/framework/routes instead");
    });
  }

  it("export the values of the server's edition", () => {
    expect(Object.keys(browserEdition)).to.have.members(Object.keys(serverEdition));
  });

  it("have the paths, names and URLs of the server", () => {
    const [browser, server] = [browserEdition, serverEdition].map(describeTables);

    expect(browser).to.deep.equal(server);
    expect(server).to.have.property("length").above(10);
  });
});

async function tableOf() {
  const { z } = await import("zod");
  const { Get, Post, routes } = serverEdition;
  return {
    links: routes("links", "/links", {
      store: Post("/", { body: z.object({ url: z.url() }), responses: { 201: z.object({ id: z.int() }) } }),
      show: Get("/{id}", { params: { id: z.int() }, responses: { 200: z.object({ id: z.int() }) } }),
    }),
  };
}

/** The method, the path, the name and a URL of each endpoint, or the code of the error. */
function describeTables({ Any, Delete, Get, guard, Post, resource, routes }: typeof serverEdition): readonly unknown[] {
  const role = guard<object, [string]>("role", { scheme: "bearer", refusals: [403] });
  const tables: readonly object[] = [
    routes("links", "/teams/{team}/", {
      index: Get("/"),
      named: Post("/x", "own.name"),
      long: Delete("/{id}", { name: "own.long", guards: [role("admin")] }),
      rest: Get("/files/{*rest}"),
      literal: Any("/ä b/%41%2F:x"),
    }),
    routes("", "", { home: Get("/"), about: Get("about") }),
    resource("photos", "/photos", { except: ["destroy"] }),
    resource("films", "/films/", { only: ["show"] }),
  ];
  const values = ["a b", "ä/c", "", "..", "/x"];
  return [
    [role.name, role.scheme, role.refusals],
    ...tables.flatMap((table) =>
      Object.entries<serverEdition.AnyEndpoint>({ ...table }).map(([key, each]) => [
        key,
        each.method,
        each.path,
        each.name,
        ...values.map((value) => urlOf(each, value)),
      ]),
    ),
  ];
}

function urlOf(endpoint: serverEdition.AnyEndpoint, value: string): string {
  const captures = [...endpoint.path.matchAll(/\{/g)].map(() => value);
  try {
    return endpoint.url(...captures);
  } catch (error) {
    return `${String(Object(error).code)} ${String(Object(error).message)}`;
  }
}
