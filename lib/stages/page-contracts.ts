/**
 * Stage of the page contracts: data, not behaviour. It puts the registry on each request, where the stage that writes pages reads it.
 */
import { describeToken } from "../di/token.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { RegistryOfRequest, type PageContractRegistry } from "./pages/contract-registry.js";

export class PageContractsLayer extends StageLayer {
  /** @throws TypeError for a value that is not a registry */
  constructor(private readonly registry: PageContractRegistry) {
    super();
    // The registry's class is loaded by the entry point of the pages alone.
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
