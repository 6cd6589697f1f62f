/** The requests of each cell to samples/notes. A test of the program makes them too, so this file imports nothing. */

/** Of a program: a bearer token exempts it from the CSRF check. */
export const HEADERS = { "Content-Type": "application/json", Authorization: "Bearer of-a-program" };

/** What differs from what the program must do, a line each. At the end there is room for one note. */
export async function faultsOf(url) {
  const faults = [];
  const ask = async (request, expected, note) => {
    const [method, path] = request.split(" ");
    const body = note === undefined ? undefined : JSON.stringify(note);
    const response = await fetch(url + path, { method, headers: HEADERS, body });
    const text = await response.text();
    const [status, header, value, whole = text] = expected;
    const seen = [response.status, response.headers.get(header), text];
    const wanted = [status, value, whole];
    if (String(seen) !== String(wanted)) faults.push(`${request}: ${seen.join(" ")} instead of ${wanted.join(" ")}`);
  };
  const PROBLEM = ["content-type", "application/problem+json"];
  await ask("POST /notes", [201, "location", "/notes/1", '{"id":1,"text":"milk"}'], { text: "milk" });
  await ask("GET /notes", [200, "cache-control", "no-store", '[{"id":1,"text":"milk"}]']);
  await ask("GET /notes/1", [200, "content-security-policy", "default-src 'none'", '{"id":1,"text":"milk"}']);
  await ask("GET /notes/7", [404, ...PROBLEM]);
  await ask("POST /notes", [422, ...PROBLEM], { text: "" });
  await ask("PUT /notes", [405, "allow", "GET, HEAD, OPTIONS, POST"]);
  await ask("GET /up", [200, "content-type", "application/json", '{"state":"ready","ready":true,"live":true}']);
  for (let id = 2; id <= 10; id += 1) await ask("POST /notes", [201, "location", `/notes/${id}`], { text: "bread" });
  await ask("POST /notes", [409, ...PROBLEM], { text: "one too many" });
  await ask("DELETE /notes/1", [204, "content-length", null, ""]);
  return faults;
}
