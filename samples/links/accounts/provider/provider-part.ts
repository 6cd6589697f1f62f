import { type Binding, type Class, token } from "@stagecraft/framework";

/** The sign-in at a provider, as a part of the application. */
export interface ProviderPart {
  /** The module with its endpoints, and with all others. */
  readonly root: Class;
  readonly bindings: readonly Binding[];
  /** As people know it. */
  readonly name: string;
}

/** The name of the provider, for the pages; `null` without one. */
export const PROVIDER_NAME = token<string | null>("PROVIDER_NAME");
