/**
 * The entry point `@stagecraft/framework/storage/s3`: the file storage in a bucket. Needs the packages `@aws-sdk/client-s3`,
 * `@aws-sdk/lib-storage` and `@aws-sdk/s3-request-presigner`. If one is missing, the import throws `E_PEER_MISSING`, which names the command that installs them.
 */
export { S3Storage, type S3Credentials, type S3StorageOptions } from "../storage/s3/s3-storage.js";
