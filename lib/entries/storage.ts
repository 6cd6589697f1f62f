/** The entry point `@stagecraft/framework/storage`: the port of file storages, and the storage in memory. Needs no further package. */
export { MemoryStorage, type MemoryStorageOptions } from "../storage/memory-storage.js";
export {
  Storage,
  type StorageCopyOptions,
  type StorageGetOptions,
  type StorageListOptions,
  type StorageOptions,
  type StoragePutOptions,
} from "../lifecycle/storage.js";
export {
  StorageFullError,
  StorageKeyError,
  StorageRangeError,
  StorageUnavailableError,
  StoredFileMissingError,
} from "../lifecycle/storage-errors.js";
export type {
  ListedFile,
  OpenedFile,
  SignedDownload,
  SignedUpload,
  SignedUploadTerms,
  StorageContent,
  StorageFiles,
  StorageListing,
  StorageRange,
  StorageVisibility,
  StoredFile,
} from "../lifecycle/storage-files.js";
export { checkStorageKey } from "../lifecycle/storage-key.js";
export type { StorageInput } from "../lifecycle/storage-source.js";
