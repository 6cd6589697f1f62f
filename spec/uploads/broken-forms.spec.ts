/** Broken and hostile multipart forms over real sockets: each is answered, ends no process, and leaves nothing behind. */
import { expect } from "chai";
import * as fc from "fast-check";
import {
  BOUNDARY,
  fileOf,
  FORM_TYPE,
  formBytes,
  headOf,
  onlyFile,
  partBytes,
  PNG,
  UploadApp,
} from "../support/multipart.js";
import { unhandledDuring } from "../support/unhandled-during.js";
import { until } from "../support/until.js";

const part = (headers: string, content = "x"): Buffer =>
  Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n--${BOUNDARY}--\r\n`, "latin1");
const disposition = (parameters: string): string => `Content-Disposition: form-data; ${parameters}`;

/** Spaces behind the first boundary, which a sender must not write (RFC 2046 section 5.1.1). */
const padded = (form: Buffer): Buffer => Buffer.from(form.toString("latin1").replace("\r\n", "  \r\n"), "latin1");
const PART = partBytes({ name: "a", content: "x" });
const DROPPED = Buffer.from(`--${BOUNDARY}\r\nX: 1\r\n\r\nx\r\n`);

describe("a broken form", () => {
  const bodies: readonly (readonly [string, Buffer, number])[] = [
    ["that is empty", Buffer.alloc(0), 400],
    ["without a boundary in it", Buffer.from("no form at all"), 400],
    ["that ends after the head of a part", formBytes(fileOf(10)).subarray(0, 60), 400],
    ["that ends in a file", formBytes(fileOf(1000)).subarray(0, 500), 400],
    ["that ends before the last boundary", formBytes(fileOf(10)).subarray(0, -BOUNDARY.length - 6), 400],
    ["with another boundary", Buffer.from(formBytes(fileOf(10)).toString("latin1").replaceAll(BOUNDARY, "other")), 400],
    ["with a part without a name", part("Content-Disposition: form-data"), 400],
    ["with an empty name", part(disposition('name=""')), 400],
    ["with a NUL in a name", part(disposition('name="a\0b"')), 400],
    ["with a head that is not a head", part("no colon here"), 400],
    ["with a part without a Content-Disposition", part("X-Other: 1"), 400],
    ["with a part of another disposition", part('Content-Disposition: attachment; name="a"'), 400],
    ["with a file name that cannot be decoded", part(disposition("name=\"f\"; filename*=utf-8''%ZZ")), 400],
    ["with a disposition behind 2,000 headers", part(`${"a:\r\n".repeat(2001)}${disposition('name="a"')}`), 400],
    ["with spaces behind a boundary", padded(part(disposition('name="a"'))), 400],
    ["with the boundary in a content", part(disposition('name="a"'), `x\r\n--${BOUNDARY}y`), 400],
    ["with a dropped part between two others", Buffer.concat([PART, DROPPED, formBytes(fileOf(10))]), 400],
    ["with a header line of 1 MiB", part(`${disposition('name="a"')}\r\nX: ${"x".repeat(1_048_576)}`), 400],
    ["with a header name of 1 MiB", part("x".repeat(1_048_576)), 400],
    ["with a head of 17 KiB", part(`${disposition('name="a"')}\r\nX: ${"x".repeat(17_000)}`), 400],
    ["with a coded part", part(`${disposition('name="a"')}\r\nContent-Transfer-Encoding: base64`), 415],
    ["with an unknown charset", part(`${disposition('name="a"')}\r\nContent-Type: text/plain; charset=klingon`), 415],
    ["with a coded file", part(`${disposition('name="a"; filename="a"')}\r\nContent-Transfer-Encoding: gzip`), 415],
  ];
  for (const [what, body, status] of bodies) {
    it(`is refused with ${status}, and stores nothing: a form ${what}`, async () => {
      await using uploads = await UploadApp.start();

      const unhandled = await unhandledDuring(async () => {
        expect((await uploads.post(body)).status).to.equal(status);
        await until(() => uploads.files().length === 0);
      });

      expect(unhandled).to.deep.equal([]);
      expect((await uploads.post(formBytes(fileOf(10)))).status).to.equal(200);
    });
  }

  for (const [what, type, status] of [
    ["no boundary", "multipart/form-data", 400],
    ["an empty boundary", "multipart/form-data; boundary=", 400],
    ["an empty boundary in quotes", 'multipart/form-data; boundary=""', 400],
    ["a boundary of 71 characters", `multipart/form-data; boundary=${"x".repeat(71)}`, 400],
    ["a boundary with a line break", 'multipart/form-data; boundary="a\tb"', 400],
    ["another type", "application/x-www-form-urlencoded", 415],
    ["another kind of multipart", "multipart/mixed; boundary=x", 415],
    ["a type that only begins so", `multipart/form-data-x; boundary=${BOUNDARY}`, 415],
  ] as const) {
    it(`is refused with ${status} before its body is read: a form with ${what}`, async () => {
      await using uploads = await UploadApp.start();

      const answer = await uploads.app.raw(headOf(1000, type));

      expect(String(answer)).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
    });
  }

  it("is refused with the fault that the parser found, also if it is found far before the end", async () => {
    await using uploads = await UploadApp.start();
    const long = part(`${disposition('name="a"')}\r\nX: ${"x".repeat(1_048_576)}`);

    const answer = await uploads.post(long);

    expect(((await answer.json()) as { detail: string }).detail).to.include("Malformed part header");
  });

  it("is refused with 415 if it has a Content-Encoding: nothing is inflated", async () => {
    await using uploads = await UploadApp.start();

    const answer = await uploads.app.raw(headOf(1000).replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n"));

    expect(String(answer)).to.match(/^HTTP\/1\.1 415 /);
  });
});

describe("the names of a form", () => {
  it("may be names that every object has, and change nothing else", async () => {
    await using uploads = await UploadApp.start();
    const names = ["constructor", "toString", "a[b", "a.b", "a"];

    const answer = await uploads.post(formBytes(...names.map((name) => ({ name, content: "x" }))));

    expect(await answer.json()).to.deep.equal(names.map((name) => [name, "x"]));
    expect(({} as { x?: unknown }).x).to.equal(undefined);
  });

  it("are data for files: folders, control characters and the rest beyond 255 characters are cut off", async () => {
    await using uploads = await UploadApp.start();
    const names = ["../../etc/passwd", "C:\\Users\\a.png", "x".repeat(10_000), "..", "a%00b", "a\u202egnp.exe"];

    const answer = await uploads.post(formBytes(...names.map((filename) => ({ name: "f", filename, content: PNG }))));
    const [[, files]] = (await answer.json()) as [[string, { name: string }[]]];

    const shown = files.map(({ name }) => name);
    expect(shown).to.deep.equal(["passwd", "a.png", "x".repeat(255), "", "a%00b", "agnp.exe"]);
  });

  it("are not cut inside a character for files", async () => {
    await using uploads = await UploadApp.start();
    const filename = `${"x".repeat(254)}\u{1F600}`;

    const answer = await uploads.post(formBytes({ name: "f", filename, content: "x" }));

    expect(await answer.json()).to.deep.equal([["f", { name: "x".repeat(254), size: 1, type: "text/plain" }]]);
  });

  it("are decoded for files in the extended notation, without a NUL", async () => {
    await using uploads = await UploadApp.start();

    const answer = await uploads.post(part(disposition(`name="f"; filename*=utf-8''a%00%E2%82%AC.txt`)));

    expect(await answer.json()).to.deep.equal([["f", { name: "a€.txt", size: 1, type: "text/plain" }]]);
  });
});

describe("a part of a form", () => {
  it("is one text or one file if it is a form itself: nothing in it is read as a part", async () => {
    await using uploads = await UploadApp.start();
    const inner = `--in\r\n${disposition('name="b"; filename="b"')}\r\n\r\ntext\r\n--in--`;
    const type = "multipart/mixed; boundary=in";

    const answer = await uploads.post(
      formBytes({ name: "a", type, content: inner }, { name: "f", filename: "f", type, content: inner }),
    );

    expect(await answer.json()).to.deep.equal([
      ["a", inner],
      ["f", { name: "f", size: inner.length, type: "text/plain" }],
    ]);
  });

  for (const [charset, content, text] of [
    ["utf-8", Buffer.from("é"), "é"],
    ["UTF-8", Buffer.from("é"), "é"],
    ["iso-8859-1", Buffer.from([0xe9]), "é"],
    ["utf-16le", Buffer.from("é", "utf16le"), "é"],
    ["utf-8", Buffer.from([0xe9]), "\ufffd"],
  ] as const) {
    it(`has the text ${JSON.stringify(text)} for ${content.toString("hex")} in ${charset}`, async () => {
      await using uploads = await UploadApp.start();

      const answer = await uploads.post(formBytes({ name: "a", type: `text/plain; charset=${charset}`, content }));

      expect(await answer.json()).to.deep.equal([["a", text]]);
    });
  }
});

describe("a client of a form", () => {
  for (const what of ["leaves in the middle of a file", "leaves in the middle of a head"] as const) {
    it(`leaves no file behind and aborts the handler if it ${what}`, async () => {
      const reasons: unknown[] = [];
      let isReading = false;
      await using uploads = await UploadApp.start(async (ctx) => {
        isReading = true;
        return ctx.uploads().catch((error: unknown) => void reasons.push(error));
      });
      const body = formBytes(fileOf(200_000), { name: "a", content: "x" });
      await using socket = await uploads.connect();
      const sent = what.endsWith("file") ? body.subarray(0, 100_000) : body.subarray(0, 200_150);
      socket.say(headOf(body.length)).say(sent.toString("latin1"));
      await until(() => isReading && uploads.files().length === 1);

      socket.socket.destroy();

      await until(() => reasons.length === 1 && uploads.files().length === 0);
      expect(reasons[0]).to.have.property("code", "E_CLIENT_GONE");
    });
  }

  it("is cut off by the timeout of the application if it never ends its last part", async () => {
    await using uploads = await UploadApp.start(undefined, {}, (builder) => builder.timeout(100));
    const body = formBytes(fileOf(5000));
    await using socket = await uploads.connect();

    socket.say(headOf(undefined)).say(`1000\r\n${body.subarray(0, 0x1000).toString("latin1")}\r\n`);

    await socket.hear(/^HTTP\/1\.1 408 /);
    await until(() => uploads.files().length === 0);
  });

  it("gets the response to a refused form while it still sends", async () => {
    await using uploads = await UploadApp.start(undefined, { fileBytes: 1000 });
    const body = formBytes(fileOf(500_000));
    await using socket = await uploads.connect();

    socket.say(headOf(body.length)).say(body.subarray(0, 100_000).toString("latin1"));

    await socket.hear(/^HTTP\/1\.1 413 [\s\S]*larger than 1000 bytes/);
  });
});

describe("a file that lies", () => {
  const bomb = Buffer.concat([Buffer.from("PK\x03\x04\x14\0\0\0\x08\0", "latin1"), Buffer.alloc(1000, 0x61)]);
  for (const [what, content, type] of [
    ["a zip bomb named as an image", bomb, "application/zip"],
    ["a page named as an image", "<!doctype html><script>alert(1)</script>", "text/html"],
    ["a drawing with scripts", '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', "image/svg+xml"],
    ["a program named as an image", "MZ\x90\0", "application/vnd.microsoft.portable-executable"],
  ] as const) {
    it(`has the type of its content, and is not an image for a schema: ${what}`, async () => {
      await using uploads = await UploadApp.start(async (ctx) => {
        const file = onlyFile((await ctx.uploads())["f"]);
        return [file.type, file.hasType("image/*")];
      });

      const answer = await uploads.post(formBytes({ name: "f", filename: "a.png", type: "image/png", content }));

      expect(await answer.json()).to.deep.equal([type, false]);
    });
  }
});

function byName(pairs: readonly unknown[][]): unknown[][] {
  return pairs.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : Number(a[0] !== b[0])));
}

describe("random forms", () => {
  const text = fc.string({ minLength: 1, maxLength: 30, unit: fc.constantFrom(...Array.from("abcXYZ0189_-[]. ")) });
  // Names with brackets are read in spec/http/body/form-fields.spec.ts.
  const plainName = text.map((each) => each.replaceAll("[", "("));
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    // Texts that look like a boundary.
    fc.constantFrom("\r\n--", `\r\n--${BOUNDARY.slice(0, -1)}`, "\r", "\n\r\n").map((each) => Buffer.from(each)),
  );
  const anyPart = fc.record({ name: plainName, filename: fc.option(text, { nil: undefined }), content });
  const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 10 });

  it("are read as they were written, with chunks cut at any byte", async function () {
    this.timeout(120_000);
    await using uploads = await UploadApp.start(async (ctx) => {
      const seen: unknown[] = [];
      for (const [name, value] of Object.entries(await ctx.uploads())) {
        for (const each of [value].flat()) {
          seen.push([name, typeof each === "string" ? each : (await onlyFile(each).bytes()).toString("hex")]);
        }
      }
      return seen;
    });

    await fc.assert(
      fc.asyncProperty(fc.array(anyPart, { maxLength: 8 }), cuts, async (given, lengths) => {
        const parts = given.map(({ filename, ...rest }) => (filename === undefined ? rest : { ...rest, filename }));
        const answer = await uploads.postCut(formBytes(...parts), lengths);
        const expected = given.map(({ name, filename, content: bytes }) => [
          name,
          filename === undefined ? bytes.toString("utf8") : bytes.toString("hex"),
        ]);
        // The order within a name holds, and no order between names.
        expect(byName((await answer.json()) as unknown[][])).to.deep.equal(byName(expected));
      }),
      { numRuns: 60 },
    );
    await until(() => uploads.files().length === 0);
  });

  for (const [what, form, status] of [
    ["refused with 400 if a part between two others has no disposition", [PART, DROPPED, formBytes(fileOf(10))], 400],
    [
      "read although a boundary follows the last one",
      [PART, formBytes(fileOf(10)), DROPPED, formBytes(fileOf(10))],
      200,
    ],
  ] as const) {
    it(`are ${what}, with chunks cut at any byte`, async () => {
      await using uploads = await UploadApp.start();
      const body = Buffer.concat(form);

      for (let length = 1; length < BOUNDARY.length + 10; length += 1) {
        const answer = await uploads.postCut(body, [length]);
        expect(answer.status, `in chunks of ${length} bytes`).to.equal(status);
        await answer.text();
      }

      expect((await uploads.postCut(body, [body.length])).status).to.equal(status);
    });
  }

  it("are refused with 400 if they end anywhere, store nothing, and end no process", async function () {
    this.timeout(120_000);
    await using uploads = await UploadApp.start();
    const form = formBytes({ name: "a", content: "text" }, fileOf(50), { name: "b", filename: "b", content: PNG });

    const unhandled = await unhandledDuring(async () => {
      for (let end = 0; end < form.length - 2; end += 3) {
        const answer = await uploads.postCut(form.subarray(0, end), [7, 50]);
        expect(answer.status, `after ${end} bytes`).to.equal(400);
        await answer.text();
      }
    });

    expect(unhandled).to.deep.equal([]);
    await until(() => uploads.files().length === 0);
    expect(FORM_TYPE).to.include(BOUNDARY);
  });
});
