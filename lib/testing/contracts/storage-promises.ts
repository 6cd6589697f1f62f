/**
 * The promises of a storage that `obeysStorage` checks, each as a function of a trial. Not for tests of an application: they call
 * `obeysStorage`.
 */
import { Readable } from "node:stream";
import type { Storage } from "../../storage/storage.js";
import { describeValue } from "../failure.js";
import { type ContractPromise, getCode } from "./contract.js";
import {
  createEndlessSource,
  createFailingSource,
  createPattern,
  splitBytes,
  WRONG_KEYS,
} from "./storage-trial-data.js";

interface StorageTrial {
  readonly storage: Storage;
  /** A key that no other promise uses. */
  readonly key: (name?: string) => string;
  readonly equal: (actual: unknown, expected: unknown, what: string) => void;
}

const readText = async (storage: Storage, key: string): Promise<string> =>
  (await storage.bytes(key, 1_048_576)).toString();

const sorted = (metadata: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.entries(metadata)
    .map((pair) => pair.join("="))
    .toSorted();

export const STORAGE_PROMISES: readonly ContractPromise<StorageTrial>[] = [
  [
    "a file is read as it was stored, with its description",
    async ({ storage, key, equal }) => {
      const metadata = { "uploaded-by": "user 7", title: "Résumé Ελλάδα 🎉", mark: "=?UTF-8?B?eA==?=" };
      const options = { type: "text/plain; charset=utf-8", metadata };
      const before = Date.now();
      const put = await storage.put(key(), "grüße", options);
      const { file, body } = await storage.get(key());
      equal(String(Buffer.concat(await body.toArray())), "grüße", "the content");
      for (const each of [put, file, await storage.stat(key())]) {
        equal(each?.key, key(), "the key");
        equal(each?.size, 7, "the size in bytes");
        equal(each?.type, options.type, "the type");
        equal(each?.visibility, "private", "the visibility");
        equal(sorted(each?.metadata), sorted(options.metadata), "the metadata");
        equal(each?.etag, put.etag, "the entity tag");
        equal(/^"[!#-~]+"$/.test(each?.etag ?? ""), true, "whether the entity tag is strong");
        equal(Math.abs((each?.modified.getTime() ?? 0) - before) < 86_400_000, true, "whether it is from today");
      }
    },
  ],
  [
    "text, bytes, streams and async iterables of any size are stored",
    async ({ storage, key, equal }) => {
      const large = createPattern(11 * 1_048_576 + 3);
      const contents: readonly (readonly [string, () => Parameters<Storage["put"]>[1], Buffer])[] = [
        ["an empty text", () => "", Buffer.alloc(0)],
        ["an empty stream", () => Readable.from([]), Buffer.alloc(0)],
        ["bytes", () => createPattern(1000), createPattern(1000)],
        ["a stream", () => Readable.from(splitBytes(large, 70_001), { objectMode: false }), large],
        ["an async iterable", () => splitBytes(createPattern(9), 2), createPattern(9)],
      ];
      for (const [name, content, expected] of contents) {
        for (const size of [undefined, expected.length]) {
          const put = await storage.put(key(), content(), size === undefined ? {} : { size });
          equal(put.size, expected.length, `the size of ${name}`);
          const bytes = await storage.bytes(key(), expected.length);
          equal(bytes.equals(expected), true, `whether ${name} has the same bytes`);
        }
      }
    },
  ],
  [
    "a missing file is undefined or a 404, and may be deleted",
    async ({ storage, key, equal }) => {
      equal((await storage.stat(key())) === undefined, true, "whether it is missing");
      equal(await getCode(storage.get(key())), "E_STORAGE_MISSING", "the code of reading");
      equal(await getCode(storage.copy(key(), key("copy"))), "E_STORAGE_MISSING", "the code of copying");
      equal(await getCode(storage.move(key(), key("moved"))), "E_STORAGE_MISSING", "the code of moving");
      await storage.delete(key());
      await storage.put(key(), "here");
      await storage.delete(key());
      equal((await storage.stat(key())) === undefined, true, "whether the deleted file is missing");
    },
  ],
  [
    "a file replaces the one before, with another entity tag",
    async ({ storage, key, equal }) => {
      const one = await storage.put(key(), "one", { type: "text/plain", metadata: { a: "1" } });
      const two = await storage.put(key(), "two");
      equal(await readText(storage, key()), "two", "the content");
      equal(two.etag === one.etag, false, "whether the entity tags are equal");
      const { type, metadata } = (await storage.stat(key())) ?? {};
      equal([type, metadata], ["application/octet-stream", {}], "type and metadata");
    },
  ],
  [
    "a wrong key, media type and metadata are refused",
    async ({ storage, key, equal }) => {
      for (const wrong of WRONG_KEYS) {
        equal(await getCode(storage.put(wrong, "x")), "E_STORAGE_KEY", `the code of ${describeValue(wrong)}`);
        equal(await getCode(storage.get(wrong)), "E_STORAGE_KEY", `the code of reading ${describeValue(wrong)}`);
        equal(await getCode(storage.move(wrong, key())), "E_STORAGE_KEY", `the code of moving ${describeValue(wrong)}`);
      }
      for (const prefix of ["/", "a//", "../../", "e\u0301", "a\0"])
        equal(await getCode(storage.list(prefix)), "E_STORAGE_KEY", `the code of the prefix ${describeValue(prefix)}`);
      equal(await getCode(storage.put(key(), "x", { type: "text" })), "E_STORAGE_TYPE", "the code of a type");
      for (const metadata of [{ note: "two\r\nlines" }, { "stagecraft-visibility": "public" }])
        equal(await getCode(storage.put(key(), "x", { metadata })), "E_STORAGE_METADATA", "the code of metadata");
      for (const [name, options] of [
        ["../up", {}],
        [key(), { type: "text" }],
      ] as const) {
        const source = Readable.from(["x"]);
        await getCode(storage.put(name, source, options));
        equal(source.destroyed, true, "whether the refused source is closed");
      }
      equal((await storage.stat(key())) === undefined, true, "whether the file is missing");
    },
  ],
  [
    "keys of any script, with spaces and signs, stay unchanged",
    async ({ storage, key, equal }) => {
      const names = [
        " a b ",
        "%2e%2e",
        "+&=?#;:@!$'(),~",
        '"<>|*',
        "日本語",
        "naïve",
        "\u{1F600}",
        "x".repeat(200),
        ".hidden",
      ];
      const keys = names.map((name) => key(`names/${name}`));
      for (const each of keys) await storage.put(each, each);
      for (const each of keys) equal(await readText(storage, each), each, "the content");
      const { files } = await storage.list(key("names/"));
      equal(files.map((file) => file.key).toSorted(), keys.toSorted(), "the listed keys");
    },
  ],
  [
    "a range is read, up to the end of the file",
    async ({ storage, key, equal }) => {
      await storage.put(key(), "0123456789");
      const ranges: readonly (readonly [number, number | undefined, string])[] = [
        [0, 1, "0"],
        [3, 4, "3456"],
        [8, 100, "89"],
        [9, undefined, "9"],
        [0, undefined, "0123456789"],
      ];
      for (const [first, length, expected] of ranges) {
        const range = length === undefined ? { first } : { first, length };
        const { file, body } = await storage.get(key(), { range });
        equal(String(Buffer.concat(await body.toArray())), expected, `the range from ${first}`);
        equal(file.size, 10, "the size of the whole file");
      }
      equal(await getCode(storage.get(key(), { range: { first: 10 } })), "E_STORAGE_RANGE", "the code behind the end");
    },
  ],
  [
    "files are listed by prefix, in order, in pages",
    async ({ storage, key, equal }) => {
      const names = ["a", "b-c", "b/1", "b/2/x", "b/10", "b0", "c/\u{1F600}", "c/\uff5e"];
      for (const name of names) await storage.put(key(name), name);
      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const listing = await storage.list(key(""), { limit: 3, ...(cursor !== undefined && { cursor }) });
        pages.push(listing.files.map((file) => file.key.slice(key("").length)));
        cursor = listing.cursor;
      } while (cursor !== undefined && pages.length < 10);
      equal(
        pages,
        [
          ["a", "b-c", "b/1"],
          ["b/10", "b/2/x", "b0"],
          ["c/\uff5e", "c/\u{1F600}"],
        ],
        "the pages",
      );
      const { files } = await storage.list(key("b/"), { limit: 3 });
      equal(
        files.map((file) => file.size),
        [1 + 2, 4, 5].map((size) => size),
        "the sizes below a prefix",
      );
      equal((await storage.list(key("b"))).files.length, 5, "the number of files of a partial name");
      equal(await storage.list(key("missing/")), { files: [] }, "the listing of a missing prefix");
    },
  ],
  [
    "a copy and a moved file keep content, type, metadata and visibility",
    async ({ storage, key, equal }) => {
      await storage.put(key("deep/from"), "content", { type: "text/css", metadata: { a: "1" } });
      const copied = await storage.copy(key("deep/from"), key("copy"));
      const moved = await storage.move(key("deep/from"), key("other/moved"));
      for (const each of [copied, moved, await storage.stat(key("copy")), await storage.stat(key("other/moved"))]) {
        equal([each?.type, each?.metadata, each?.visibility], ["text/css", { a: "1" }, "private"], "the description");
        equal(each?.size, 7, "the size");
      }
      equal(await readText(storage, key("other/moved")), "content", "the content");
      equal((await storage.stat(key("deep/from"))) === undefined, true, "whether the moved file is missing");
      const published = await storage.copy(key("copy"), key("copy"), { visibility: "public" });
      equal([published.visibility, published.type], ["public", "text/css"], "the new visibility");
      equal((await storage.stat(key("copy")))?.visibility, "public", "the stored visibility");
    },
  ],
  [
    "after a failure the old file remains, and no other file",
    async ({ storage, key, equal }) => {
      await storage.put(key(), "old");
      equal(await getCode(storage.put(key(), createFailingSource())), "SOURCE_FAILED", "the code of a failing source");
      equal(await getCode(storage.put(key(), "12345", { size: 4 })), "E_STORAGE_SIZE", "the code of too much");
      for (const size of [4, 6]) {
        const source = Readable.from(["123", "45"]);
        equal(await getCode(storage.put(key(), source, { size })), "E_STORAGE_SIZE", `the code of 5 bytes as ${size}`);
        equal(source.destroyed, true, "whether the source is closed");
      }
      equal(await getCode(storage.put(key("new"), createFailingSource())), "SOURCE_FAILED", "the code of a new file");
      equal(await readText(storage, key()), "old", "the content");
      equal((await storage.list(key(""))).files.length, 1, "the number of files");
    },
  ],
  [
    "a signal ends the work, and no file stays behind",
    async ({ storage, key, equal }) => {
      const controller = new AbortController();
      const source = createEndlessSource();
      const put = getCode(storage.put(key(), source, { signal: controller.signal }));
      await new Promise((resolve) => setTimeout(resolve, 20));
      controller.abort(Object.assign(new Error("enough"), { code: "ENOUGH" }));
      equal(await put, "ENOUGH", "the code");
      equal(source.destroyed, true, "whether the source is closed");
      equal((await storage.stat(key())) === undefined, true, "whether the file is missing");
      equal(
        await getCode(storage.stat(key(), { signal: controller.signal })),
        "ENOUGH",
        "the code of an aborted signal",
      );
      await storage.put(key(), createPattern(4_194_304));
      const reading = new AbortController();
      const { body } = await storage.get(key(), { signal: reading.signal });
      reading.abort(Object.assign(new Error("enough"), { code: "ENOUGH" }));
      equal(await getCode(body.toArray()), "ENOUGH", "the code of reading");
    },
  ],
  [
    "a reader sees the old file or the new one, never a part",
    async ({ storage, key, equal }) => {
      const versions = [Buffer.alloc(262_144, "a"), Buffer.alloc(200_000, "b")] as const;
      await storage.put(key(), versions[0]);
      const state = { isWriting: true, torn: 0 };
      const write = async (): Promise<void> => {
        for (let round = 1; round <= 12; round++)
          await storage.put(key(), splitBytes(versions[round % 2 ? 1 : 0], 50_000));
      };
      const writing = write().finally(() => (state.isWriting = false));
      while (state.isWriting) {
        const bytes = await storage.bytes(key(), 300_000);
        if (!versions.some((version) => version.equals(bytes))) state.torn += 1;
      }
      await writing;
      equal(state.torn, 0, "the number of torn reads");
    },
  ],
  [
    "a small bound refuses a large file before it is read",
    async ({ storage, key, equal }) => {
      await storage.put(key(), createPattern(100));
      equal(await getCode(storage.bytes(key(), 99)), "E_STORAGE_LARGE", "the code");
      equal((await storage.bytes(key(), 100)).length, 100, "the size at the bound");
    },
  ],
];
