/** `ctx.uploads` as a handler uses it: texts, files, schemas, what becomes of the files, and the limits. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Application, Clock, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe";
import { MemoryStorage } from "@stagecraft/framework/storage";
import { expectNoLeak, FakeClock, testApp } from "@stagecraft/framework/testing";
import { UploadedFile, Uploads } from "@stagecraft/framework/uploads";
import { expect } from "chai";
import { z } from "zod";
import { errorOf } from "../support/error-of.js";
import { BOUNDARY, fileOf, formBytes, headOf, onlyFile, PNG, UploadApp } from "../support/multipart.js";
import { startupErrorOf } from "../support/startup-error-of.js";
import { until } from "../support/until.js";

const MIB = 1_048_576;
const image = z.instanceof(UploadedFile).refine((file) => file.hasType("image/*"), "an image");

describe("ctx.uploads", () => {
  it("reads texts and files of a browser's form, with the sniffed type of each file", async () => {
    await using uploads = await UploadApp.start();
    const form = new FormData();
    form.append("title", "Grüße");
    form.append("photo", new Blob([PNG], { type: "text/html" }), "../../my photo.html");
    form.append("tag", "a");
    form.append("tag", "b");

    const answer = await uploads.post(form);

    expect(await answer.json()).to.deep.equal([
      ["title", "Grüße"],
      ["photo", { name: "my photo.html", size: PNG.length, type: "image/png" }],
      ["tag", ["a", "b"]],
    ]);
  });

  it("shows the schema all texts and files, in any order", async () => {
    const schema = z.object({ photo: image, title: z.string().min(1) });
    await using uploads = await UploadApp.start(async (ctx) => {
      const { photo, title } = await ctx.uploads(schema);
      return { title, extension: photo.extension, bytes: (await photo.bytes()).toString("hex") };
    });

    const answer = await uploads.post(
      formBytes({ name: "photo", filename: "x", content: PNG }, { name: "title", content: "sea" }),
    );

    expect(await answer.json()).to.deep.equal({ title: "sea", extension: ".png", bytes: PNG.toString("hex") });
  });

  it("refuses a form that the schema refuses with 422, and keeps no file of it", async () => {
    await using uploads = await UploadApp.start((ctx) => ctx.uploads(z.object({ photo: image })));

    const answer = await uploads.post(
      formBytes({ name: "photo", filename: "a.png", type: "image/png", content: "no" }),
    );

    expect(answer.status).to.equal(422);
    expect(((await answer.json()) as { errors: object }).errors).to.have.property("photo");
    expect(uploads.files()).to.deep.equal([]);
  });

  it("removes the files with the response, also of a handler that fails", async () => {
    let during: readonly string[] = [];
    await using uploads = await UploadApp.start(async (ctx) => {
      await ctx.uploads();
      during = uploads.files();
      throw new Error("after the upload");
    });

    const answer = await uploads.post(formBytes(fileOf(10), fileOf(20)));

    expect([answer.status, during.length]).to.deep.equal([500, 2]);
    await until(() => uploads.files().length === 0);
  });

  it("moves a file to a storage under a random name with the extension of its content", async () => {
    const storage = new MemoryStorage();
    await using uploads = await UploadApp.start(async (ctx) => {
      const { photo } = await ctx.uploads(z.object({ photo: image }));
      return photo.storeIn(storage, "avatars", { visibility: "public" });
    });

    const answer = await uploads.post(formBytes({ name: "photo", filename: "../x.exe", content: PNG }));
    const stored = (await answer.json()) as { key: string; type: string; visibility: string };

    expect(stored.key).to.match(/^avatars\/[0-9a-f]{32}\.png$/);
    expect(stored).to.include({ type: "image/png", visibility: "public" });
    const { body } = (await storage.get(stored.key)) ?? expect.fail("not stored");
    expect(await buffer(body)).to.deep.equal(PNG);
    await until(() => uploads.files().length === 0);
  });

  it("moves a file to a path, where it stays", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moved-"));
    const path = join(folder, "photo");
    await using uploads = await UploadApp.start(async (ctx) => {
      await onlyFile((await ctx.uploads())["file"]).moveTo(path);
    });

    const answer = await uploads.post(formBytes(fileOf(100)));

    expect(answer.status).to.equal(204);
    await until(() => uploads.files().length === 0);
    expect(readFileSync(path)).to.have.length(100);
    rmSync(folder, { recursive: true });
  });

  it("opens no file after the response", async () => {
    let kept: UploadedFile | undefined;
    await using uploads = await UploadApp.start(async (ctx) => {
      kept = onlyFile((await ctx.uploads())["file"]);
    });
    await uploads.post(formBytes(fileOf(10)));
    await until(() => uploads.files().length === 0);

    expect(errorOf(() => kept?.stream())).to.have.property("code", "E_UPLOAD_GONE");
  });

  it("reads an empty file input as no file, and a file of 0 bytes as a file", async () => {
    await using uploads = await UploadApp.start();
    const type = "application/octet-stream";

    const answer = await uploads.post(
      formBytes({ name: "none", filename: "", type, content: "" }, { name: "empty", filename: "a", type, content: "" }),
    );

    expect(await answer.json()).to.deep.equal([["empty", { name: "a", size: 0, type: "text/plain" }]]);
  });

  it("reports the work and its bytes, and no part of the form", async () => {
    await using uploads = await UploadApp.start();
    const body = formBytes({ name: "thesecretname", filename: "secretfile", content: "secretcontent" });
    await uploads.post(body);

    const metrics = uploads.app.resolve(Metrics).render();
    expect(metrics).to.include(`framework_upload_bytes_total{subsystem="storage"} ${body.length}`);
    expect(metrics).to.include('operation="read",outcome="ok",subsystem="storage"');
    expect(uploads.app.captured.spans.texts().join()).to.include("framework.uploads.read").and.not.include("secret");
    expect(uploads.app.logs.lines().join()).not.to.include("secret");
  });

  it("leaks no part of a form, also of a refused one", async () => {
    const canary = "canary4711secret";
    await using uploads = await UploadApp.start((ctx) => ctx.uploads(z.object({ photo: image })));
    const forms = [
      formBytes({ name: canary, filename: canary, type: `text/${canary}`, content: canary }),
      formBytes({ name: canary, content: canary }).subarray(0, -10),
      formBytes({ name: "photo", filename: canary, content: canary }),
      formBytes({ name: canary.repeat(10), content: canary }),
    ];

    for (const form of forms) expect((await uploads.post(form)).status).to.be.within(400, 422);

    await expectNoLeak(uploads.app, canary);
  });

  it("names the class to provide if the application has no Uploads", async () => {
    await using app = await testApp(
      Application.create().routes(new Routes([Route.post("/", (ctx: Context) => ctx.uploads())])),
    );

    expect((await app.post("/", { body: "" })).status).to.equal(500);
    expect(app.logs.lines().join()).to.include("provide Uploads of @stagecraft/framework/uploads");
  });

  it("is refused at the start where two are provided", async () => {
    abstract class Second extends Uploads {}
    const provided = [provide(Uploads).useValue(new Uploads()), provide(Second).useValue(new Uploads())];

    const error = startupErrorOf(() =>
      Application.create()
        .provide(...provided)
        .build(),
    );

    expect(String(error)).to.include("E_UPLOADS_TWICE");
  });

  it("gives a second reader the same form, within its own limits", async () => {
    await using uploads = await UploadApp.start(async (ctx) => {
      const [one, other] = [await ctx.uploads(), await ctx.uploads()];
      const refused = await Promise.allSettled(
        [{ fileBytes: 9 }, { bytes: 9 }].map((each) => ctx.uploads(undefined, each)),
      );
      return [one["file"] === other["file"], ...refused.map(({ status }) => status)];
    });

    const answer = await uploads.post(formBytes(fileOf(10)));

    expect(await answer.json()).to.deep.equal([true, "rejected", "rejected"]);
  });

  it("does not read a body that another reader has read", async () => {
    await using uploads = await UploadApp.start(async (ctx) => {
      await ctx.bytes();
      return ctx.uploads();
    });

    expect((await uploads.post(formBytes())).status).to.equal(500);
    expect(uploads.app.logs.lines().join()).to.include("E_BODY_BROKEN_OFF");
  });
});

describe("the limits of uploads", function () {
  this.timeout(60_000);
  const cases: readonly (readonly [string, Buffer, number])[] = [
    ["8 MiB in a file", formBytes(fileOf(8 * MIB)), 200],
    ["8 MiB and 1 byte in a file", formBytes(fileOf(8 * MIB + 1)), 413],
    ["1 MiB in a text", formBytes({ name: "a", content: "x".repeat(MIB) }), 200],
    ["1 MiB and 1 byte in a text", formBytes({ name: "a", content: "x".repeat(MIB + 1) }), 413],
    ["32 parts", formBytes(...Array.from({ length: 32 }, () => fileOf(1))), 200],
    ["33 parts", formBytes(...Array.from({ length: 33 }, () => ({ name: "a", content: "" }))), 413],
    ["10,000 parts", formBytes(...Array.from({ length: 10_000 }, () => fileOf(1))), 413],
    ["16 MiB and more in all", formBytes(fileOf(8 * MIB), fileOf(8 * MIB)), 413],
    ["a name of 100 characters", formBytes({ name: "n".repeat(100), content: "" }), 200],
    ["a name of 101 characters", formBytes({ name: "n".repeat(101), content: "" }), 413],
  ];
  for (const [what, body, status] of cases) {
    for (const framing of ["with its length", "chunked"]) {
      it(`give ${status} for ${what}, ${framing}, and store nothing`, async () => {
        await using uploads = await UploadApp.start();
        const answer = await (framing === "chunked" ? uploads.postChunked(body) : uploads.post(body));

        expect(answer.status).to.equal(status);
        await answer.text();
        await until(() => uploads.files().length === 0);
      });
    }
  }

  it("accept a body of exactly their bytes, and none of one byte more", async () => {
    const body = formBytes(fileOf(1000));
    for (const [bytes, status] of [
      [body.length, 200],
      [body.length - 1, 413],
    ] as const) {
      await using uploads = await UploadApp.start(undefined, { bytes });

      expect((await uploads.post(body)).status).to.equal(status);
      expect((await uploads.postChunked(body)).status).to.equal(status);
    }
  });

  it("come from the call if it has any", async () => {
    await using uploads = await UploadApp.start((ctx) => ctx.uploads(undefined, { fileBytes: 10 }));

    expect((await uploads.post(formBytes(fileOf(10)))).status).to.equal(200);
    expect((await uploads.post(formBytes(fileOf(11)))).status).to.equal(413);
  });

  it("do not exceed the body limit of the application", async () => {
    await using uploads = await UploadApp.start(undefined, {}, (builder) => builder.bodyLimit(1000, { cap: 5000 }));

    expect((await uploads.post(formBytes(fileOf(500)))).status).to.equal(200);
    expect((await uploads.post(formBytes(fileOf(2000)))).status).to.equal(413);
    expect((await uploads.postChunked(formBytes(fileOf(2000)))).status).to.equal(413);
  });

  it("send no 100 Continue for a form that is announced too long", async () => {
    await using uploads = await UploadApp.start();
    const head = headOf(17 * MIB).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");

    const answer = String(await uploads.app.raw(head));

    expect(answer).to.match(/^HTTP\/1\.1 413 /);
  });

  for (const [what, times, ms] of [
    ["without a byte for 10 s", 1, 10_001],
    ["with a byte every 9 s after 30 s", 4, 9000],
  ] as const) {
    it(`refuse a form ${what} with 408, and store nothing`, async () => {
      const clock = new FakeClock();
      let isReading = false;
      await using uploads = await UploadApp.start(
        (ctx) => {
          isReading = true;
          return ctx.uploads();
        },
        {},
        (builder) => builder.provide(provide(Clock).useValue(clock)),
      );
      const begin = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n`;
      await using socket = await uploads.connect();
      socket.say(headOf(100_000) + begin + "x".repeat(1000));
      await until(() => isReading && uploads.bytes() === 1000);

      for (let time = 1; time < times; time++) {
        clock.advance(ms);
        socket.say("x");
        await until(() => uploads.bytes() === 1000 + time);
      }
      clock.advance(ms);

      await socket.hear(/^HTTP\/1\.1 408 /);
      await until(() => uploads.files().length === 0);
    });
  }

  for (const [name, value] of [
    ["bytes", 0],
    ["parts", 1.5],
    ["idleMs", Infinity],
  ] as const) {
    it(`refuse ${value} for ${name}`, () => {
      expect(errorOf(() => new Uploads({ [name]: value }))).to.have.property("code", "E_UPLOADS_LIMIT");
    });
  }

  it("refuse an unknown name", () => {
    expect(errorOf(() => new Uploads({ maxBytes: 1 } as never))).to.have.property("code", "E_OPTION");
    expect(existsSync(join(tmpdir(), "uploads-never"))).to.equal(false);
  });
});
