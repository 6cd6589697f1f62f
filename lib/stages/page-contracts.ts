/**
 * Stage layer: sets the registry of the page contracts on each request, for the stage that writes pages. It adds data and no behaviour.
 */
import { describeToken } from "../di/token.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { RegistryOfRequest, type PageContractRegistry } from "./pages/contract-registry.js";

export class PageContractsLayer extends StageLayer {
  /** @throws TypeError for a value that is not a registry */
  constructor(private readonly registry: PageContractRegistry) {
    super();
    // Only the entry point of the pages loads the class of the registry.
    if (typeof (registry as Partial<PageContractRegistry> | undefined)?.register === "function") return;
    throw new TypeError(`${describeToken(registry)} is not a PageContracts`);
  }

  override wrap(inner: Run): Run {
    const { registry } = this;
    return (ctx) => {
      RegistryOfRequest.set(ctx, registry);
      return inner(ctx);
    };
  }
}
