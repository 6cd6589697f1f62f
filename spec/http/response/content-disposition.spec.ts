import { expect } from "chai";
import * as fc from "fast-check";
import { formatContentDisposition } from "../../../lib/http/response/content-disposition.js";
import { anyText } from "../../support/any-text.js";

describe("contentDisposition", () => {
  const rows: readonly (readonly [name: string | undefined, header: string])[] = [
    [undefined, "attachment"],
    ["", "attachment"],
    ["report 2026.pdf", 'attachment; filename="report 2026.pdf"'],
    ["Übersicht.pdf", "attachment; filename=\"_bersicht.pdf\"; filename*=UTF-8''%C3%9Cbersicht.pdf"],
    ['a"b\\c.txt', "attachment; filename=\"a_b_c.txt\"; filename*=UTF-8''a%22b_c.txt"],
    ["50%.txt", "attachment; filename=\"50_.txt\"; filename*=UTF-8''50%25.txt"],
    ["../../etc/passwd", 'attachment; filename=".._.._etc_passwd"'],
    ["a\r\nSet-Cookie: x", "attachment; filename=\"a__Set-Cookie_ x\"; filename*=UTF-8''a__Set-Cookie%3A%20x"],
    ["photo\u202egnp.exe", 'attachment; filename="photo_gnp.exe"'],
    ["half \ud800", 'attachment; filename="half _"'],
    ["(it's)*.txt", "attachment; filename=\"(it's)_.txt\"; filename*=UTF-8''%28it%27s%29%2A.txt"],
  ];

  for (const [name, header] of rows) {
    it(`gives ${header} for the name ${JSON.stringify(name)}`, () => {
      expect(formatContentDisposition(name)).to.equal(header);
    });
  }

  it("gives an inline disposition on request", () => {
    expect(formatContentDisposition("a.png", true)).to.equal('inline; filename="a.png"');
  });

  it("gives a header of bounded length for every text", () => {
    fc.assert(
      fc.property(anyText({ maxLength: 400 }), (name) => {
        const header = formatContentDisposition(name);
        expect(() => new Headers({ "Content-Disposition": header })).not.to.throw();
        expect(header).to.match(/^[ -~]*$/);
        expect(header.length).to.be.below(3000);
        expect(
          header.replace(/^attachment(; filename="[^"\\]*")?(; filename\*=UTF-8''[\w!#$&+.^`|~%-]*)?$/, ""),
        ).to.equal("");
      }),
    );
  });
});
