/**
 * The connections that workers have taken. The program writes a line for each before it confirms the connection, so that the last line of a
 * connection names the process that a request on it was lost with.
 */
import { appendFileSync, closeSync, openSync, readSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

const READ_BYTES = 65_536;

export class TakenConnections {
  readonly file: string;
  private readonly pids = new Map<number, number>();
  private position = 0;
  private rest = "";

  constructor(folder: string) {
    this.file = join(folder, "taken");
    writeFileSync(this.file, "");
  }

  /** The process that has taken the connection of this port last. */
  find(port: number): number | undefined {
    this.read();
    return this.pids.get(port);
  }

  private read(): void {
    const file = openSync(this.file, "r");
    const buffer = Buffer.alloc(READ_BYTES);
    for (let bytes; (bytes = readSync(file, buffer, 0, READ_BYTES, this.position)) > 0; this.position += bytes) {
      const lines = (this.rest + buffer.toString("latin1", 0, bytes)).split("\n");
      this.rest = lines.pop() ?? "";
      for (const line of lines) {
        const [port, pid] = line.split(" ").map(Number);
        if (port !== undefined && pid !== undefined) this.pids.set(port, pid);
      }
    }
    closeSync(file);
  }
}

/** In a worker, before `runWorkers()`: the parent passes each connection beside a message. */
export function recordTaken(file: string): void {
  process.on("message", (_message, handle) => {
    if (handle instanceof Socket) appendFileSync(file, `${handle.remotePort ?? 0} ${process.pid}\n`);
  });
}
