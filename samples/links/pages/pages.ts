/** The components by their names: each page is a chunk of its own, which the browser loads with the first visit of it. */
import type { ComponentType } from "react";
import { Layout } from "./layout.js";

interface PageModule {
  readonly Page: ComponentType<Record<string, unknown>>;
}

const modules = import.meta.glob<PageModule>("./**/*.page.tsx");

export async function pageNamed(name: string): Promise<PageModule["Page"]> {
  const load = modules[`./${name}.page.tsx`];
  if (load === undefined) throw new Error(`there is no page ${name}`);
  return (await load()).Page;
}

/** Stays mounted from page to page. */
export const layout = () => Layout;

export const title = (text: string) => (text === "" ? "Links" : `${text} · Links`);
