/** The entry point `@stagecraft/framework/storage`: the port of file storages, and the storage in memory. Needs no further package. */
export { MemoryStorage, type MemoryStorageOptions } from "../storage/memory-storage.js";
export { Storage } from "../storage/storage.js";
export type {
  SignedUploadOptions,
  SignedUrlOptions,
  StorageCopyOptions,
  StorageGetOptions,
  StorageListOptions,
  StorageOptions,
  StoragePutOptions,
} from "../storage/storage-options.js";
export type { DownloadReply, StorageDownloadOptions } from "../storage/storage-download.js";
export { StorageUrls, type StorageUrlOptions } from "../storage/storage-urls.js";
export type { ScopeRequest } from "../lifecycle/work-scope.js";
export {
  StorageFullError,
  StorageKeyError,
  StorageRangeError,
  StorageUnavailableError,
  StoredFileMissingError,
} from "../storage/storage-errors.js";
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
} from "../storage/storage-files.js";
export { checkStorageKey } from "../storage/storage-key.js";
export type { StorageInput } from "../storage/storage-source.js";
