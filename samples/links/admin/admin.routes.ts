/** The endpoints of administrators: pages by their role, and one switch for their programs. And the endpoints of operators by address. */
import { apiToken, role, signedIn } from "@stagecraft/framework/auth/guards";
import { content, Delete, Get, guard, Post, Put, routes } from "@stagecraft/framework/routes";
import { z } from "zod";
import { redirected, shown } from "../form-content.js";
import { Slug } from "../new-link.js";

/** The paths below `/admin` stay open during maintenance. */
export const desk = routes(
  "desk",
  "/admin",
  {
    index: Get("/", { responses: shown("admin/index") }),
    close: Post("/close", { responses: redirected }),
    open: Post("/open", { responses: redirected }),
    remove: Post("/remove/{slug}", { params: { slug: Slug }, responses: redirected }),
  },
  { guards: [signedIn, role("admin")] },
);

export const admin = routes(
  "admin",
  "/admin/maintenance",
  {
    close: Put("/", { bearer: true, responses: { 204: content.none() } }),
    open: Delete("/", { bearer: true, responses: { 204: content.none() } }),
  },
  { guards: [apiToken("maintenance"), role("admin")] },
);

/** The addresses of `METRICS_ALLOW`. For others the path does not exist. */
export const insider = guard("insider", { refusals: [404] });

/** The exposition format of Prometheus. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const metrics = Get("/metrics", {
  name: "metrics",
  guards: [insider],
  responses: { 200: content.text(METRICS_TYPE) },
});

export const status = Get("/status", {
  name: "status",
  responses: { 200: z.object({ upstream: z.int() }) },
});
