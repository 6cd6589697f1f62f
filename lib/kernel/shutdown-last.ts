/**
 * For what must outlive everything else: an exporter that still has to send what the last requests left. Anything provided that
 * extends this is shut down after the last subsystem, once; its failure is a warning and no exit code.
 */
export abstract class ShutdownLast {
  abstract shutdown(): Promise<void>;
}
