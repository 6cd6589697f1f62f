/** What the client of Inertia knows about every page: the shared props, and the flash. And the constants of the build. */
import type { RoutesManifest } from "@stagecraft/framework/routes";
import type { EveryPage } from "../contracts.js";

declare global {
  /** The manifest of the table `ranking`, from `build-front-end.ts`. */
  const RANKING: RoutesManifest;
  /** The catalog of the frame in English, from `build-front-end.ts`. */
  const FRAME_MESSAGES: string;
}

declare module "@inertiajs/core" {
  interface InertiaConfig {
    sharedPageProps: EveryPage;
    flashDataType: {
      messages?: readonly { readonly level: "success" | "info" | "warning" | "error"; readonly message: string }[];
    };
  }
}
