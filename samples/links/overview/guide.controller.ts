import { readFile } from "node:fs/promises";
import { content, type ContextOf, Controller, CspNonce, Get, NotFoundError, Reply } from "@stagecraft/framework";
import { z } from "zod";

export const guide = Get("/guide/{page}", {
  name: "guide",
  params: { page: z.string().regex(/^[a-z-]+\.md$/) },
  responses: { 200: content.text("text/html") },
});

const FOLDER = new URL("../../../../docs/guide/", import.meta.url);

const STYLE = `:root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}
pre{overflow-x:auto;padding:1rem;border:1px solid}table{display:block;overflow-x:auto;border-collapse:collapse}td,th{border:1px solid;padding:.2rem .6rem;text-align:left}`;

/** The guide of the framework, for the link on the front page of a developer. */
@Controller()
export class GuideController {
  @guide
  async show(ctx: ContextOf<typeof guide>) {
    const text = await readPage(ctx.params.page);
    // A visitor never reads the guide, so the start does not load the package.
    const { marked } = await import("marked");
    const title = /^# (.*)$/m.exec(text)?.[1] ?? "Guide";
    return Reply.html(
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>` +
        `<style${CspNonce.of(ctx).attribute()}>${STYLE}</style></head><body>${await marked.parse(text)}</body></html>`,
    );
  }
}

async function readPage(page: string): Promise<string> {
  try {
    return await readFile(new URL(page, FOLDER), "utf8");
  } catch (cause) {
    throw new NotFoundError(`no page ${page}`, { cause });
  }
}
