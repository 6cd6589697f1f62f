/** The entry point `@stagecraft/framework/storage/fs`: the file storage in a directory of the disk. Needs no further package. */
export { FsStorage, type FsStorageOptions } from "../storage/fs/fs-storage.js";
