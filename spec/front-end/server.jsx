/** What the server renders a page with. The bundle exports a function and starts nothing. */
import { createInertiaApp } from "@inertiajs/react";
import { renderToString } from "react-dom/server";
import { pageNamed } from "./pages.jsx";

export function render(page) {
  return createInertiaApp({
    page,
    render: renderToString,
    resolve: pageNamed,
    title: (title) => `${title} - Spec`,
    setup: ({ App, props }) => <App {...props} />,
  });
}
