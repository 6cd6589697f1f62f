/** The data of a pool about a connection: its users, the start of the use, and its maximum age. */
import type { Flow } from "../../tracing/flow.js";
import type { PoolHolder } from "./pool-report.js";

export interface PoolMember {
  /** False if the connection is closed, inside a transaction, or unusable for the next user for another reason. */
  readonly isReusable: boolean;
  /** The statement that runs, or the last one, with placeholders. */
  readonly lastStatement: string | undefined;
  /** Closes the connection. The pool calls it once. */
  close(): void;
}

/** Rejects when the signal aborts, and leaves no socket behind. */
export type OpenMember<M> = (signal: AbortSignal) => Promise<M>;

export interface PoolUse {
  /** The end of its maximum age, with a random part, so that not all connections are replaced at the same moment. */
  readonly expiresAt: number;
  /** 0 while the connection is free; more than one for a batch. */
  users: number;
  takenAt: number;
  /** The flow of the first user. */
  flow: Flow | undefined;
  idleSince: number;
}

/** The connection that is in use for the longest time. */
export function findOldestHolder(uses: ReadonlyMap<PoolMember, PoolUse>, now: number): PoolHolder | undefined {
  let oldest: PoolHolder | undefined;
  for (const [member, { users, takenAt, flow }] of uses) {
    if (users === 0 || now - takenAt <= (oldest?.inUseMs ?? -1)) continue;
    oldest = { inUseMs: now - takenAt, statement: member.lastStatement, flow };
  }
  return oldest;
}
