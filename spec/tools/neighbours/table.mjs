/** The generated table of the guide: one row for each package and use, with the versions that give the same result. */

const BEGIN = "<!-- packages: written by npm run neighbours -- --write -->";
const END = "<!-- end of packages -->";

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

/** Puts the table between its two comments. */
export function withTable(page, table) {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from === -1 || to < from) throw new Error("the page lacks the comments around the table");
  return `${page.slice(0, from)}${BEGIN}\n\n${table}\n\n${page.slice(to)}`;
}
