/** Kills a process that was started with `detached`, and all processes that it has started. Windows has no groups. */
export function killGroup(pid: number): void {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
