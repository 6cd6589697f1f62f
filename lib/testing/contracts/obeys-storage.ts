/**
 * The contract of every `Storage`, as a suite of promises that any driver passes. Each promise works below another prefix, and deletes
 * its files at the end, so one storage serves all of them.
 *
 * @example
 * it("obeys the contract of a storage", () => obeysStorage(new FsStorage({ root })));
 */
import { type Storage } from "../../storage/storage.js";
import { checkPromises } from "./contract.js";
import { STORAGE_PROMISES } from "./storage-promises.js";

/** @throws AssertionError listing every promise that the storage breaks. The storage is started, and stays so. */
export async function obeysStorage(storage: Storage): Promise<void> {
  const run = Math.random().toString(36).slice(2);
  const verdict = `${storage.constructor.name} does not obey the contract of a storage`;
  await checkPromises(verdict, STORAGE_PROMISES, async (keeps, { index, equal }) => {
    const prefix = `contract-${run}/${index}/`;
    await keeps({ storage, key: (name = "file") => prefix + name, equal });
    await clean(storage, prefix);
  });
}

async function clean(storage: Storage, prefix: string): Promise<void> {
  const { files } = await storage.list(prefix);
  for (const { key } of files) await storage.delete(key);
}
