/** The entry point `@stagecraft/framework/storage`: the port of file storages, and the storage in memory. Needs no further package. */
export { MemoryStorage, type MemoryStorageOptions } from "../storage/memory-storage.js";
export { Storage } from "../lifecycle/storage.js";
export type {
  SignedUploadOptions,
  SignedUrlOptions,
  StorageCopyOptions,
  StorageGetOptions,
  StorageListOptions,
  StorageOptions,
  StoragePutOptions,
} from "../lifecycle/storage-options.js";
export type { StorageDownloadOptions } from "../lifecycle/storage-download.js";
export { StorageUrls, type StorageUrlOptions } from "../lifecycle/storage-urls.js";
export type { AskingRequest } from "../lifecycle/work-scope.js";
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
  ServedUrls,
  SignedDownload,
  SignedTerms,
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
