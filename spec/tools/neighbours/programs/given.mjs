/** What programs send, and the files that they serve. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const JSON_BODY = { headers: { "content-type": "application/json" }, body: '{"a":{"b":[1,2]}}' };
export const FORM_BODY = { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "a=1&b=x%20y&a=2" };
export const MULTIPART_BODY = {
  headers: { "content-type": "multipart/form-data; boundary=edge" },
  body: '--edge\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--edge\r\ncontent-disposition: form-data; name="f"; filename="f.txt"\r\ncontent-type: text/plain\r\n\r\nfile\r\n--edge--\r\n',
};

const FILES = {
  "a.txt": "text\n",
  "index.html": "<p>index</p>\n",
  "page.ejs": "<p><%= name %></p>\n",
  "error.ejs": "<p><%= status %></p>\n",
};
export const folder = mkdtempSync(join(tmpdir(), "neighbours-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const [name, text] of Object.entries(FILES)) {
  writeFileSync(join(folder, name), text);
  utimesSync(join(folder, name), 0, 0);
}
