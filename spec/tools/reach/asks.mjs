/** The requests of each cell. A test of the program makes them too, so this file imports nothing. */

/** What differs from what the program must do, a line each. */
export async function faultsOf(url) {
  const faults = [];
  const ask = async (method, path, expected) => {
    const response = await fetch(url + path, { method });
    const text = await response.text();
    const seen = [response.status, response.headers.get(expected[1]), text];
    const wanted = [expected[0], expected[2], expected[3] ?? text];
    if (String(seen) !== String(wanted))
      faults.push(`${method} ${path}: ${seen.join(" ")} instead of ${wanted.join(" ")}`);
  };
  await ask("POST", "/notes", [201, "location", "/notes", '{"text":"milk"}']);
  await ask("GET", "/notes", [200, "cache-control", "no-store", '[{"text":"milk"}]']);
  await ask("GET", "/notes/journal", [200, "content-type", "application/json", '["added milk"]']);
  await ask("DELETE", "/notes", [405, "allow", "GET, HEAD, OPTIONS, POST"]);
  await ask("GET", "/nothing", [404, "content-type", null]);
  await ask("GET", "/up", [200, "content-type", "application/json", '{"state":"ready","ready":true,"live":true}']);
  return faults;
}
