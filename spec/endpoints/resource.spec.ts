import { expect } from "chai";
import { resource } from "../../lib/endpoints/resource.js";

describe("a resource", () => {
  it("has the seven actions in a fixed order", () => {
    const photos = resource("photos", "/teams/{team}/photos");

    const actions = Object.entries(photos).map(([key, { method, path, name }]) => [key, method, path, name]);

    expect(actions).to.deep.equal([
      ["index", "GET", "/teams/{team}/photos", "photos.index"],
      ["create", "GET", "/teams/{team}/photos/new", "photos.create"],
      ["store", "POST", "/teams/{team}/photos", "photos.store"],
      ["show", "GET", "/teams/{team}/photos/{id}", "photos.show"],
      ["edit", "GET", "/teams/{team}/photos/{id}/edit", "photos.edit"],
      ["update", "PUT", "/teams/{team}/photos/{id}", "photos.update"],
      ["destroy", "DELETE", "/teams/{team}/photos/{id}", "photos.destroy"],
    ]);
    expect(photos.edit.url("red", 7)).to.equal("/teams/red/photos/7/edit");
  });

  it("has the options of a route for each of its actions", () => {
    const { store, show } = resource("hooks", "/hooks", { only: ["store", "show"], csrf: "exempt", bearer: true });

    expect(store).to.include({ csrf: "exempt", bearer: true });
    expect(show).to.include({ csrf: "exempt", bearer: true });
    expect(resource("p", "/p").store).not.to.have.any.keys("csrf", "bearer");
  });

  const rows: readonly (readonly [title: string, table: object, actions: readonly string[]])[] = [
    ["only", resource("p", "/p", { only: ["destroy", "index", "show"] }), ["index", "show", "destroy"]],
    ["except", resource("p", "/p", { except: ["edit", "create"] }), ["index", "store", "show", "update", "destroy"]],
    ["both", resource("p", "/p", { only: ["index", "show"], except: ["show"] }), ["index"]],
    ["an empty only", resource("p", "/p", { only: [] }), []],
    ["an empty except", resource("p", "/p", { only: ["show"], except: [] }), ["show"]],
  ];
  for (const [title, table, actions] of rows) {
    it(`has with ${title} the actions: ${actions.join(", ") || "none"}`, () => {
      expect(Object.keys(table)).to.deep.equal(actions);
    });
  }
});
