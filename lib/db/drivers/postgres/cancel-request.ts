/**
 * Asks the server to cancel what a connection runs. PostgreSQL takes such a request on a connection of its own, which opens here with the
 * same TLS as all others. The promise settles when the server has closed it, which it does after it has passed the request on.
 */
import type { ConnectionOptions as TlsOptions } from "node:tls";
import { ControlSemaphore } from "../control-semaphore.js";
import { pg } from "./postgres-package.js";

export interface CancelTarget {
  readonly processId: number;
  readonly secretKey: unknown;
  /** Asked again when the control connection is up: a later statement must not be hit. */
  readonly isRunning: () => boolean;
}

/** Members that the types of the package leave out of its `Connection`. */
interface ControlConnection {
  readonly stream: { destroy(): void };
  on(event: "connect" | "sslconnect" | "error" | "end", listener: () => void): void;
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: unknown): void;
  end(): void;
}

export interface CancelServer {
  readonly host: string;
  readonly port: number;
  readonly tls: false | TlsOptions;
}

export class CancelRequests {
  private readonly semaphore = new ControlSemaphore();

  constructor(private readonly server: CancelServer) {}

  /** True if the request was sent. Never rejects. When the signal aborts, it ends at once. */
  send(target: CancelTarget, signal: AbortSignal): Promise<boolean> {
    return this.semaphore.run(async () => !signal.aborted && target.isRunning() && this.request(target, signal));
  }

  private request({ processId, secretKey, isRunning }: CancelTarget, signal: AbortSignal): Promise<boolean> {
    const { host, port, tls } = this.server;
    const control = new pg.Connection({ ssl: tls }) as unknown as ControlConnection; // It has the members of the interface.
    return new Promise((resolve) => {
      let isSent = false;
      const abort = (): void => control.stream.destroy();
      const cancel = (): void => {
        if (!isRunning()) return control.end();
        isSent = true;
        control.cancel(processId, secretKey);
      };
      control.on("connect", () => (tls === false ? cancel() : control.requestSsl()));
      control.on("sslconnect", cancel);
      control.on("error", () => control.stream.destroy());
      control.on("end", () => {
        signal.removeEventListener("abort", abort);
        resolve(isSent);
      });
      signal.addEventListener("abort", abort, { once: true });
      control.connect(port, host);
    });
  }
}
