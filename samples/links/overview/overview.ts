import { Context, Injectable, profile, type StageRow } from "@stagecraft/framework";
import { RequestId } from "@stagecraft/framework/observe";

/** The part of the front page that shows a developer the running stages. A release build does not show it. */
@Injectable()
export class Overview {
  /** The rows of the application that serves; `main.ts` sets them, because they are known after `build()`. */
  stages: readonly StageRow[] = [];

  of(ctx: Context, status: number): { readonly stages: readonly string[]; readonly line: string } | undefined {
    if (profile === "release") return undefined;
    const stages = this.stages.filter(({ on }) => on).map(({ number, slot }) => `${number} ${slot}`);
    return { stages, line: formatLine(ctx, status) };
  }
}

/** The fixed part of the access line of the request, which is written after the page. */
function formatLine(ctx: Context, status: number): string {
  const { method, path, ip } = ctx;
  const id = RequestId.of(ctx)?.value ?? "";
  return `INFO framework::observe::access_log: framework.request: ${method} ${path} ${status} … client_ip=${ip} … request_id=${id} status=${status}`;
}
