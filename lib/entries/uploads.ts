/** The entry point `@stagecraft/framework/uploads`: multipart forms for `ctx.uploads`. Needs the package `busboy`. */
export { Uploads, type UploadsOptions } from "../uploads/uploads.js";
export {
  UploadedFile,
  type UploadStore,
  type UploadStoreOptions,
  type UploadFields,
  type UploadLimits,
  type UploadValue,
} from "../http/body/uploads.js";
