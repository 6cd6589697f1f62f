/**
 * The contract of every `Storage`, as a suite of promises that any driver passes. Each promise works below another prefix, and deletes
 * its files at the end, so one storage serves all of them.
 *
 * @example
 * it("obeys the contract of a storage", () => obeysStorage(new FsStorage({ root })));
 */
import { type Storage } from "../../storage/storage.js";
import { createFailure, describeValue } from "../failure.js";
import { STORAGE_PROMISES } from "./storage-promises.js";

/** @throws AssertionError listing every promise that the storage breaks. The storage is started, and stays so. */
export async function obeysStorage(storage: Storage): Promise<void> {
  const run = Math.random().toString(36).slice(2);
  const faults: string[] = [];
  for (const [at, [promise, check]] of STORAGE_PROMISES.entries()) {
    const equal = (actual: unknown, expected: unknown, what: string): void => {
      if (JSON.stringify(actual) !== JSON.stringify(expected))
        faults.push(`${promise}: ${what} is ${describeValue(actual)}, not ${describeValue(expected)}`);
    };
    const prefix = `contract-${run}/${at}/`;
    try {
      await check({ storage, key: (name = "file") => prefix + name, equal });
      await clean(storage, prefix);
    } catch (error) {
      faults.push(`${promise}: ${String(error)}`);
    }
  }
  if (faults.length === 0) return;
  const list = faults.map((fault) => `\n  - ${fault}`).join("");
  throw createFailure(`${storage.constructor.name} does not obey the contract of a storage:${list}`, {
    expected: [],
    actual: faults,
  });
}

async function clean(storage: Storage, prefix: string): Promise<void> {
  const { files } = await storage.list(prefix);
  for (const { key } of files) await storage.delete(key);
}
