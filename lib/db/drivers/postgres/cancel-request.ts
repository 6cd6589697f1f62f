/**
 * Asks the server to cancel the statement of a connection. PostgreSQL takes such a request on a control connection, which has the same TLS
 * as all others. The server closes the control connection when it has delivered the request, and the promise settles then.
 */
import type { ConnectionOptions as TlsOptions } from "node:tls";
import { ControlSemaphore } from "../control-semaphore.js";
import { pg } from "./postgres-package.js";

export interface CancelTarget {
  readonly processId: number;
  readonly secretKey: unknown;
  /** Called again when the control connection is open, so that the request does not cancel a later statement. */
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

  /** True if the request was sent. Never rejects. The abort of the signal ends the request at once. */
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
