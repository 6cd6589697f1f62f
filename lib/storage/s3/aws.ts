/** The packages of AWS that the storage over S3 needs. Their import fails with the command that installs them. */
import { expectPeer, type Peer, requirePeer } from "../../errors/optional-package.js";

// Since 3.729 the client has the setting for checksums, without which other services than AWS refuse its requests.
const FROM = "3.729.0";
const CLIENT: Peer = {
  entry: "@stagecraft/framework/storage/s3",
  name: "@aws-sdk/client-s3",
  from: FROM,
  install: "@aws-sdk/client-s3@3 @aws-sdk/lib-storage@3 @aws-sdk/s3-request-presigner@3",
};
const PARTS: Peer = { ...CLIENT, name: "@aws-sdk/lib-storage" };
const PRESIGNER: Peer = { ...CLIENT, name: "@aws-sdk/s3-request-presigner" };

expectPeer(CLIENT);
expectPeer(PARTS);
expectPeer(PRESIGNER);

export const client = requirePeer(CLIENT) as typeof import("@aws-sdk/client-s3");
export const parts = requirePeer(PARTS) as typeof import("@aws-sdk/lib-storage");
export const presigner = requirePeer(PRESIGNER) as typeof import("@aws-sdk/s3-request-presigner");
