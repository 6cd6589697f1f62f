/** The endpoints for programs of operators. */
import { content, Delete, Get, Put, routes } from "@stagecraft/framework/routes";
import { z } from "zod";
import { adminKey, insider } from "../accounts/guards.js";

/** The paths below `/admin` stay open during maintenance. */
export const admin = routes(
  "admin",
  "/admin/maintenance",
  {
    close: Put("/", { responses: { 204: content.none() } }),
    open: Delete("/", { responses: { 204: content.none() } }),
  },
  { guards: [adminKey] },
);

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
