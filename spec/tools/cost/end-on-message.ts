/** Loaded into a server before its program (`node --import`), it ends the process at a message of the parent process, without a drain. */
process.once("message", () => process.exit(0));
