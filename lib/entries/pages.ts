/**
 * The entry point `@stagecraft/framework/pages`: the page protocol of Inertia. A front end imports its types alone.
 */
export { external, type External } from "../stages/pages/protocol/external.js";
export {
  PageContracts,
  type ComponentName,
  type InputsOf,
  type PageErrors,
  type PageProps,
  type PropsOf,
  type ServerProps,
  type SharedPageProps,
  type SharedProps,
} from "../stages/pages/contract.js";
export type { ContractArtifact, PageContractRegistry, ShapeArtifact } from "../stages/pages/contract-registry.js";
export {
  contract,
  shape,
  type PageContract,
  type Shape,
  type ShapeTable,
  type TypeOfShapes,
} from "../stages/pages/contract-shape.js";
export {
  DocumentBody,
  RootDocument,
  type RenderDocument,
  type RootDocumentOptions,
} from "../stages/pages/document/document.js";
export type { HeadMetadata } from "../stages/pages/document/head-metadata.js";
export { clearHistory, preserveFragment } from "../stages/pages/protocol/history.js";
export type { ErrorComponents, ErrorStatus } from "../stages/pages/error-pages.js";
export { precognitive } from "../stages/pages/protocol/precognition.js";
export { PageRenderer, type RenderedPage } from "../stages/pages/rendering/page-renderer.js";
export { WorkerPageRenderer, type WorkerPageRendererOptions } from "../stages/pages/rendering/worker-page-renderer.js";
export { page, type Page } from "../stages/pages/page.js";
export { Pages, type PagesOptions } from "../stages/pages/pages.js";
export {
  always,
  deepMerge,
  deferred,
  merge,
  once,
  optional,
  prepend,
  scroll,
  type DeferredOptions,
  type Prop,
  type PropSource,
  type ScrollOptions,
  type ScrollPage,
} from "../stages/pages/props/prop.js";
export { share, type SharedInputs } from "../stages/pages/props/shared-props.js";
export type { PageLocale } from "../stages/pages/document/document-language.js";
