/** The front end of the browser specs: every feature of the page protocol, in as few components as show it. */
import { createInertiaApp } from "@inertiajs/react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { nonce } from "./nonce.js";
import { pageNamed } from "./pages.jsx";

void createInertiaApp({
  resolve: pageNamed,
  nonce,
  title: (title) => `${title} - Spec`,
  setup({ el, App, props }) {
    if (el.dataset.serverRendered === "true") hydrateRoot(el, <App {...props} />);
    else createRoot(el).render(<App {...props} />);
    el.dataset.started = "true";
  },
});
