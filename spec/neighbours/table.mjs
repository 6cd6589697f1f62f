/** The generated part of the guide's page: one row for each package and use, with the versions that give the same result. */

const BEGIN = "<!-- written by npm run neighbours -- --write -->";
const END = "<!-- end of what is written -->";

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

export function withTable(page, table) {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start === -1 || end < start) throw new Error("the page lacks the comments around its table");
  return `${page.slice(0, start)}${BEGIN}\n\n${table}\n\n${page.slice(end)}`;
}
