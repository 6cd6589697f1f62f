import { readFile } from "node:fs/promises";
import { Context, Controller, Get, NotFoundError } from "@stagecraft/framework";

export const guide = Get("/guide/{page}", "guide");

const FOLDER = new URL("../../../../docs/guide/", import.meta.url);

/** The guide of the framework as text, for the link on the front page of a developer. */
@Controller()
export class GuideController {
  @guide
  async show({ params }: Context<"page">) {
    if (!/^[a-z-]+\.md$/.test(params.page)) throw new NotFoundError();
    try {
      return await readFile(new URL(params.page, FOLDER), "utf8");
    } catch (cause) {
      throw new NotFoundError(`no page ${params.page}`, { cause });
    }
  }
}
