import { Controller } from "@stagecraft/framework";
import { Metrics } from "@stagecraft/framework/observe";
import { metrics } from "./admin.routes.js";

/** Publishes the metrics to a list of addresses. */
@Controller("/")
export class MetricsController {
  constructor(private readonly registry: Metrics) {}

  @metrics
  scrape() {
    return this.registry.response();
  }
}
