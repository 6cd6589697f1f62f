/** Starts the front end in a browser. */
import { createInertiaApp } from "@inertiajs/react";
import { createRoot, hydrateRoot } from "react-dom/client";
// oxlint-disable-next-line import/no-unassigned-import -- a stylesheet has no value
import "./app.css";
import { layout, pageNamed, title } from "./pages.js";

// After a deployment the files of the previous build no longer exist.
addEventListener("vite:preloadError", () => location.reload());

void createInertiaApp({
  resolve: pageNamed,
  layout,
  title,
  progress: { includeCSS: false, delay: 150 },
  setup({ el, App, props }) {
    if (el.dataset["serverRendered"] === "true") hydrateRoot(el, <App {...props} />);
    else createRoot(el).render(<App {...props} />);
    el.dataset["started"] = "true";
  },
});
