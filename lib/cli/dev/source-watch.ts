/**
 * Reports changes below some folders, once for all changes that follow one another.
 *
 * Each folder is watched by itself: Node 20 on Linux loses a file of a recursive watch when an editor replaces it.
 *
 * @example
 * const watch = new SourceWatch({ folders: ["src"], isWatched: (path) => !path.endsWith("node_modules"), onChange: compile });
 * watch.stop();
 */
import { existsSync, readdirSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";

export interface WatchedSources {
  readonly folders: readonly string[];
  /** False for a folder, or a file, whose changes count for nothing. */
  readonly isWatched: (path: string) => boolean;
  readonly onChange: () => void;
}

/** An editor writes several files, or one in several steps; both count as one change. */
const QUIET_MS = 20;

export class SourceWatch {
  private readonly watchers = new Map<string, FSWatcher>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly sources: WatchedSources) {
    for (const folder of sources.folders) this.watchBelow(folder);
  }

  stop(): void {
    clearTimeout(this.timer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  private watchBelow(folder: string): void {
    try {
      if (!this.watchers.has(folder)) this.watchFolder(folder);
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory() && this.sources.isWatched(path)) this.watchBelow(path);
      }
    } catch {
      // The folder was removed meanwhile.
      this.forget(folder);
    }
  }

  private watchFolder(folder: string): void {
    const watcher = watch(folder, (_event, name) => this.changed(folder, name));
    watcher.on("error", () => this.forget(folder));
    this.watchers.set(folder, watcher);
  }

  private forget(folder: string): void {
    this.watchers.get(folder)?.close();
    this.watchers.delete(folder);
  }

  /** @param name `null` where the system does not say which file changed */
  private changed(folder: string, name: string | null): void {
    if (!existsSync(folder)) this.forget(folder);
    else if (name === null || !this.watchers.has(join(folder, name))) this.watchBelow(folder);
    if (name !== null && !this.sources.isWatched(join(folder, name))) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.sources.onChange, QUIET_MS);
  }
}
