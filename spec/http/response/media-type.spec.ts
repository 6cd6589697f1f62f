import { expect } from "chai";
import { isCompressible } from "../../../lib/http/response/media-type.js";

describe("a media type", () => {
  const yes = [
    "text/plain",
    "text/html; charset=utf-8",
    "TEXT/HTML",
    "text/css",
    "text/javascript",
    "text/csv",
    "text/x-anything",
    "application/json",
    "application/json;charset=utf-8",
    "application/problem+json",
    "application/ld+json; profile=x",
    "application/javascript",
    "application/xml",
    "application/atom+xml",
    "application/xhtml+xml",
    "application/manifest+json",
    "application/x-ndjson",
    "application/wasm",
    "image/svg+xml",
    "font/ttf",
    "font/otf",
    "model/gltf+json",
  ];
  const no = [
    "text/event-stream",
    "text/event-stream; charset=utf-8",
    "application/grpc",
    "application/grpc+proto",
    "application/grpc+json",
    "application/grpc-web+json",
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/avif",
    "image/x-icon",
    "audio/mpeg",
    "video/mp4",
    "font/woff",
    "font/woff2",
    "application/zip",
    "application/gzip",
    "application/zstd",
    "application/pdf",
    "application/octet-stream",
    "application/x-unheard-of",
    "multipart/form-data; boundary=text/plain",
    "",
    ";",
    "json",
  ];

  for (const type of yes) {
    it(`is compressible: ${type}`, () => {
      expect(isCompressible(type)).to.equal(true);
    });
  }

  for (const type of no) {
    it(`is not compressible: ${JSON.stringify(type)}`, () => {
      expect(isCompressible(type)).to.equal(false);
    });
  }
});
