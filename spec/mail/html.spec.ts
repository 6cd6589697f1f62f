/** The tagged template of the HTML of mails. */

import { expect } from "chai";
import * as fc from "fast-check";
import { html, trustedHtml } from "../../lib/mail/html.js";
import { errorOf } from "../support/error-of.js";

describe("the HTML of a mail", function () {
  this.timeout(60_000);
  it("escapes each value", () => {
    const name = `<b>"Ada" & 'Eve'</b>`;

    expect(String(html`<p title="${name}">${name}</p>`)).to.equal(
      '<p title="&lt;b&gt;&quot;Ada&quot; &amp; &#39;Eve&#39;&lt;/b&gt;">&lt;b&gt;&quot;Ada&quot; &amp; &#39;Eve&#39;&lt;/b&gt;</p>',
    );
  });

  it("has no character of a value that could start a tag or end an attribute", () => {
    fc.assert(fc.property(fc.string(), (text) => !/[<>"']/.test(String(html`${text}`))));
  });

  it("inserts other templates, trusted markup, lists and numbers", () => {
    const items = ["a", "<b>"].map((item) => html`<li>${item}</li>`);

    expect(String(html`${items}${7}${trustedHtml("<hr>")}`)).to.equal("<li>a</li><li>&lt;b&gt;</li>7<hr>");
  });

  it("treats undefined, null and false as an empty text", () => {
    expect(String(html`a${undefined}${null}${false}b`)).to.equal("ab");
  });

  it("refuses a value in an attribute without quotes", () => {
    const bad = errorOf(() => html`<a title=${"x onclick=y"}></a>`);

    expect(bad).to.have.property("code", "E_MAIL_HTML");
    expect(bad.message).to.include("without quotes");
  });

  it("allows an equals sign before a value in a text", () => {
    expect(String(html`<p>1 + 1 = ${2}, and ${"a"} = ${"b"}</p>`)).to.equal("<p>1 + 1 = 2, and a = b</p>");
    expect(errorOf(() => html`<p title="${"a"}" class=${"b"}></p>`)).to.have.property("code", "E_MAIL_HTML");
  });

  it("allows links of http, https, mailto, tel and cid, and relative ones", () => {
    for (const link of [
      "https://example.org/?a=1&b=2",
      "http://example.org",
      "mailto:a@b.org",
      "tel:1",
      "cid:logo",
      "/a",
    ])
      expect(String(html`<a href="${link}"></a>`)).to.include("href=");
  });

  it("refuses links with another scheme after a space in the template", () => {
    expect(errorOf(() => html`<a href=" ${"javascript:alert(1)"}"></a>`)).to.have.property("code", "E_MAIL_HTML");
  });

  it("refuses links with another scheme", () => {
    for (const link of [
      "javascript:alert(1)",
      " JavaScript:alert(1)",
      "java\nscript:alert(1)",
      "data:text/html,x",
      "file:///etc",
    ])
      for (const make of [
        () => html`<a href="${link}"></a>`,
        () => html`<img src="${link}" />`,
        () => html`<a href="${link}"></a>`,
      ])
        expect(errorOf(make)).to.have.property("code", "E_MAIL_HTML");
  });
});
