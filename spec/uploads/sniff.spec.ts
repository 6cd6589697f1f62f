import { expect } from "chai";
import { sniff } from "../../lib/uploads/sniff.js";

const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
const archive = (name: string): string => `PK\x03\x04${"\0".repeat(26)}${name}`;

describe("the sniffed type", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["\x89PNG\r\n\x1a\n", "image/png"],
    ["\x89PNG\n", "application/octet-stream"],
    ["\xff\xd8\xff\xe0", "image/jpeg"],
    ["GIF89a", "image/gif"],
    ["RIFF\0\0\0\0WEBPVP8 ", "image/webp"],
    ["RIFF\0\0\0\0WAVEfmt ", "audio/wav"],
    ["RIFF\0\0\0\0else", "application/octet-stream"],
    ["\0\0\0\x20ftypavif", "image/avif"],
    ["\0\0\0\x20ftypheic", "image/heic"],
    ["\0\0\0\x20ftypisom", "video/mp4"],
    ["BM\0\0\0\x01\0\0\0\0", "image/bmp"],
    ["BMW is a car", "text/plain"],
    ["%PDF-1.7", "application/pdf"],
    [archive("a.txt"), "application/zip"],
    [
      archive("[Content_Types].xml....word/document.xml"),
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    [archive("mimetypeapplication/epub+zip"), "application/epub+zip"],
    ["\x1f\x8b\x08", "application/gzip"],
    [`${"\0".repeat(257)}ustar`, "application/x-tar"],
    ["\x7fELF", "application/x-elf"],
    ["#!/bin/sh\n", "text/plain"],
    ["a,b\r\n1,2\r\n", "text/plain"],
    ["", "text/plain"],
    ["\xff\xfe\x00", "application/octet-stream"],
    ["text with a \0", "application/octet-stream"],
    ["<!DOCTYPE html><p>", "text/html"],
    ["\n <script>", "text/html"],
    ["a < b and <script src=x>", "text/html"],
    ['<?xml version="1.0"?><svg xmlns="">', "image/svg+xml"],
    ["<svg><title>x</title></svg>", "image/svg+xml"],
    ["<html><svg></svg></html>", "text/html"],
    ['<?xml version="1.0"?><rss/>', "application/xml"],
  ];
  for (const [head, type] of rows) {
    it(`is ${type} for ${JSON.stringify(head.slice(0, 40))}`, () => {
      expect(sniff(bytes(head)).type).to.equal(type);
    });
  }

  it("is text/plain also for a text that is cut in the middle of a character", () => {
    expect(sniff(Buffer.from("Grüße €").subarray(0, -1)).type).to.equal("text/plain");
  });
});
