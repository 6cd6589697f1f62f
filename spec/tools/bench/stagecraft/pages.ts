/** The scenarios of pages, apart so that no other scenario loads pages. */

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application, Controller, Get, Module } from "@stagecraft/framework";
import { contract, page, Pages, type PagesOptions } from "@stagecraft/framework/pages";
import { MANIFEST, PAGE_COMPONENT, PAGE_VERSION, pageProps } from "../fixtures.js";

const index = contract(PAGE_COMPONENT, {});

@Controller("/links")
class PagesController {
  @Get("/")
  index() {
    return page(index, pageProps());
  }
}

@Module({ controllers: [PagesController] })
class PagesModule {}

export function paged(options: PagesOptions = {}) {
  return Application.create(PagesModule).pages(new Pages({ ...options, version: PAGE_VERSION }));
}

function manifestFile(): string {
  const file = join(mkdtempSync(join(tmpdir(), "manifest-")), "manifest.json");
  writeFileSync(file, JSON.stringify(MANIFEST));
  return file;
}

export function document() {
  return paged({ entry: "pages/main.tsx", manifest: manifestFile() });
}
