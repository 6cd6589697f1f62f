/** The generated tables of the guide: one row for each package and use, with the versions that give the same result. */

const begin = (name) => `<!-- ${name}: written by npm run neighbours -- --write -->`;
const end = (name) => `<!-- end of ${name} -->`;

/** @param rows `[program, result]` */
export function tableOf(rows) {
  const merged = new Map();
  for (const [program, result] of rows) {
    const key = JSON.stringify([program.package, program.use, result]);
    merged.set(key, { program, result, versions: [...(merged.get(key)?.versions ?? []), program.version] });
  }
  const lines = [...merged.values()].map(
    ({ program, result, versions }) =>
      `| ${[program.package, versionsOf(versions), program.use, result].join(" | ")} |`,
  );
  return ["| Package | Version | Use | Result |", "| --- | --- | --- | --- |", ...lines].join("\n");
}

/** The programs name the versions in rising order. */
function versionsOf(versions) {
  if (versions.length < 3) return versions.join(", ");
  return `${versions[0]} to ${versions.at(-1)}`;
}

/** Puts the table between the comments of its name. */
export function withTable(page, name, table) {
  const [from, to] = [page.indexOf(begin(name)), page.indexOf(end(name))];
  if (from === -1 || to < from) throw new Error(`the page lacks the comments around the table of ${name}`);
  return `${page.slice(0, from)}${begin(name)}\n\n${table}\n\n${page.slice(to)}`;
}
