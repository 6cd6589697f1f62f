import { Context, Injectable, profile, type StageRow } from "@stagecraft/framework";
import { RequestId } from "@stagecraft/framework/observe";
import { escape } from "../document.js";
import { guide } from "./guide.controller.js";

/** The part of the front page that tells a developer what runs, and where to look at it. A release build does not show it. */
@Injectable()
export class Overview {
  /** The rows of the application that serves; `main.ts` sets them, because they are known after `build()`. */
  stages: readonly StageRow[] = [];

  html(ctx: Context, status: number): string {
    return profile === "release" ? "" : page(this.stages, lineOf(ctx, status));
  }
}

function page(stages: readonly StageRow[], line: string): string {
  const on = stages.filter((stage) => stage.on).map(({ number, slot }) => `<code>${number} ${slot}</code>`);
  return `
<section>
<h2>What runs here</h2>
<p>Stages that are on, from the outside inwards: ${on.join(", ")}.</p>
<ul>
<li><a href="/up">/up</a> is the health of this process.</li>
<li><a href="/metrics">/metrics</a> counts requests, for Prometheus. Only this machine may read it.</li>
<li>This request is the following line in the terminal, with its time and duration: <code>${escape(line)}</code></li>
<li><a href="${guide.url("index.md")}">The guide</a> begins with the first steps.</li>
</ul>
</section>`;
}

/** The fixed part of the access line of the request, which is written after the page. */
function lineOf(ctx: Context, status: number): string {
  const { method, path, ip } = ctx;
  const id = RequestId.of(ctx)?.value ?? "";
  return `INFO framework::observe::access_log: framework.request: ${method} ${path} ${status} … client_ip=${ip} … request_id=${id} status=${status}`;
}
