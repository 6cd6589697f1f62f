/**
 * Reports changes below some folders, once for all changes that follow one another.
 *
 * Each folder is watched by itself: Node 20 on Linux loses a file of a recursive watch when an editor replaces it.
 *
 * @example
 * const watch = new SourceWatch({ isWatched: (folder) => !folder.endsWith("node_modules"), counts: isProjectFile, onChange, onLimit });
 * watch.add(["src"]);
 * watch.stop();
 */
import { existsSync, lstatSync, readdirSync, watch, type FSWatcher } from "node:fs";
import { join, sep } from "node:path";

export interface WatchedSources {
  /** False for a folder below which no change counts. */
  readonly isWatched: (folder: string) => boolean;
  /** Whether a change of a file counts. */
  readonly counts: (file: string) => boolean;
  /** @param paths files that changed, and folders of such files that were moved or removed */
  readonly onChange: (paths: readonly string[]) => void;
  /** Called once, with the first folder that is not watched: there are too many, or the system refuses. */
  readonly onLimit: (folder: string) => void;
}

/** An editor writes several files, or one in several steps; both count as one change. */
const QUIET_MS = 20;

const MAX_FOLDERS = 2000;

interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** Whether it has had a file that counts. */
  hasCounted: boolean;
}

export class SourceWatch {
  private readonly folders = new Map<string, WatchedFolder>();
  private readonly changes = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private isLimited = false;

  constructor(private readonly sources: WatchedSources) {}

  /** Watches these folders and those below them. A folder that is watched already stays so. */
  add(folders: readonly string[]): void {
    for (const folder of folders) this.watchBelow(folder);
  }

  stop(): void {
    clearTimeout(this.timer);
    for (const { watcher } of this.folders.values()) watcher.close();
    this.folders.clear();
  }

  /** Returns the files that count. */
  private watchBelow(folder: string): readonly string[] {
    try {
      if (!this.folders.has(folder) && !this.watchFolder(folder)) return [];
      const found = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return this.sources.isWatched(path) ? this.watchBelow(path) : [];
        return this.markCounted(folder, path) ? [path] : [];
      });
      return found;
    } catch (error) {
      // Its files are reported by the watches on them.
      this.forget(folder);
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") this.limit(folder);
      return [];
    }
  }

  private watchFolder(folder: string): boolean {
    if (this.folders.size >= MAX_FOLDERS) {
      this.limit(folder);
      return false;
    }
    const watcher = watch(folder, (event, name) => this.changed(folder, name, event === "rename"));
    watcher.on("error", () => this.forget(folder));
    this.folders.set(folder, { watcher, hasCounted: false });
    return true;
  }

  private limit(folder: string): void {
    if (!this.isLimited) this.sources.onLimit(folder);
    this.isLimited = true;
  }

  private markCounted(folder: string, file: string): boolean {
    const counts = this.sources.counts(file);
    const entry = this.folders.get(folder);
    if (counts && entry !== undefined) entry.hasCounted = true;
    return counts;
  }

  /** Forgets a folder and those below it. Returns whether one had a file that counts. */
  private forget(folder: string): boolean {
    let hadCounted = false;
    for (const [path, { watcher, hasCounted }] of this.folders) {
      if (path !== folder && !path.startsWith(folder + sep)) continue;
      hadCounted ||= hasCounted;
      watcher.close();
      this.folders.delete(path);
    }
    return hadCounted;
  }

  /** @param name `null` where the system does not say which file changed */
  private changed(folder: string, name: string | null, isRenamed: boolean): void {
    if (name === null) return this.report([folder, ...this.watchBelow(folder)]);
    const path = join(folder, name);
    // A folder with the name of an older one is another one.
    if (isRenamed && this.folders.has(path) && this.forget(path)) this.report([path]);
    if (isFolder(path)) {
      if (isRenamed && this.sources.isWatched(path)) this.report(this.watchBelow(path));
    } else if (this.markCounted(folder, path)) this.report([path]);
    if (!existsSync(folder)) this.forget(folder);
  }

  private report(paths: readonly string[]): void {
    if (paths.length === 0) return;
    for (const path of paths) this.changes.add(path);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const changes = [...this.changes];
      this.changes.clear();
      this.sources.onChange(changes);
    }, QUIET_MS);
  }
}

/** A link to a folder is none: it may lead back. */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
