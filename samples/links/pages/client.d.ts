/** What the client of Inertia knows about every page: the shared props, and the flash. */
import type { EveryPage } from "../contracts.js";

declare module "@inertiajs/core" {
  interface InertiaConfig {
    sharedPageProps: EveryPage;
    flashDataType: {
      messages?: readonly { readonly level: "success" | "info" | "warning" | "error"; readonly message: string }[];
    };
  }
}
