import { Controller, Get, Middleware } from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe";
import { Insiders } from "./insiders.js";

/** Publishes the metrics to a list of addresses. */
@Controller("/")
@Middleware(Insiders)
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get("/metrics", "metrics")
  scrape() {
    return this.metrics.response();
  }
}
