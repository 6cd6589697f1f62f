/** Renders a page on the server. The bundle exports this function and starts nothing. */
import { createInertiaApp } from "@inertiajs/react";
import type { Page } from "@inertiajs/core";
import { renderToString } from "react-dom/server";
import type { EveryPage } from "../contracts.js";
import { layout, pageNamed, title } from "./pages.js";

export function render(page: Page<EveryPage & Record<string, unknown>>) {
  return createInertiaApp({
    page,
    render: renderToString,
    resolve: pageNamed,
    layout,
    title,
    setup: ({ App, props }) => <App {...props} />,
  });
}
