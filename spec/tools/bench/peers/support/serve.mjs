/**
 * Serves the scenario named by the first argument: `hello`, `routes:100`, … Each entry of `scenarios` starts a server on the port it is
 * given (0 for any) and the loopback address, and returns the address it listens on.
 */
export async function serve(scenarios) {
  const [name, count] = process.argv[2].split(":");
  const { port } = await scenarios[name]({
    port: Number(process.env.PORT ?? 0),
    host: "127.0.0.1",
    count: Number(count),
  });
  process.stdout.write(`ready ${port}\n`);
}

/** The address of a node:http server, once it listens. */
export async function listening(server, { port, host }) {
  await new Promise((resolve) => server.listen(port, host, resolve));
  return server.address();
}
