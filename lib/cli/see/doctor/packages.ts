/** Whether the application has one copy of the framework and of the packages that must be one, and whether its optional packages fit. */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findUpwards } from "../../application/find-upwards.js";
import type { Finding } from "./finding.js";
import { isInRange } from "./version-range.js";

const check = "packages";

const FRAMEWORK = "@stagecraft/framework";

/** The folder of the copy that this command belongs to. */
const HERE = fileURLToPath(new URL("../../../../../", import.meta.url));

/** Their registries and metadata must be one. */
const SINGLE = ["tsyringe", "reflect-metadata", "koa"];

export function checkPackages(root: string): readonly Finding[] {
  const { version, peerDependencies = {} } = readManifest(HERE);
  const findings = [
    checkFramework(root),
    ...SINGLE.map((name) => checkSingle(name, root)),
    ...Object.entries(peerDependencies).map(([name, range]) => checkPeer(name, range, root)),
  ];
  const faults = findings.filter((finding) => finding !== undefined);
  return faults.length > 0
    ? faults
    : [{ level: "ok", check, what: `one copy of ${FRAMEWORK} ${version}; the optional packages fit` }];
}

function checkFramework(root: string): Finding | undefined {
  const found = findPackage(FRAMEWORK, root);
  if (found === undefined)
    return { level: "fail", check, what: `${FRAMEWORK} is not installed in ${root}`, fix: `npm install ${FRAMEWORK}` };
  if (realpathSync(found) === realpathSync(HERE)) return undefined;
  return {
    level: "fail",
    check,
    what: `the application has another copy of ${FRAMEWORK} than this command: ${found} and ${HERE}`,
    fix: "run npx stagecraft in the folder of the application",
  };
}

/** The application may have a copy besides that of the framework. */
function checkSingle(name: string, root: string): Finding | undefined {
  const [used, own] = [findPackage(name, HERE), findPackage(name, root)];
  if (used === undefined || own === undefined || realpathSync(used) === realpathSync(own)) return undefined;
  return {
    level: "warn",
    check,
    what: `${name} is there twice: ${used} and ${own}`,
    fix: `remove ${name} from package.json, or give it the version of the framework; npm ls ${name} shows both`,
  };
}

/** An optional package that is not installed is no fault: the application may not use it. */
function checkPeer(name: string, range: string, root: string): Finding | undefined {
  const folder = findPackage(name, root);
  const { version } = folder === undefined ? {} : readManifest(folder);
  if (version === undefined || isInRange(version, range)) return undefined;
  return {
    level: "fail",
    check,
    what: `${name} is ${version}, and the framework needs ${range}`,
    fix: `npm install "${name}@${range}"`,
  };
}

interface PackageManifest {
  readonly name?: string;
  readonly version?: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The folder of a package as the files of `root` find it: their own package under its name, or an installed one. */
function findPackage(name: string, root: string): string | undefined {
  if (readManifest(root).name === name) return root;
  for (const folder of createRequire(join(root, "package.json")).resolve.paths(name) ?? []) {
    const place = join(folder, name);
    if (findUpwards("package.json", place) === place) return place;
  }
  return undefined;
}

function readManifest(folder: string): PackageManifest {
  // npm has checked the form of the file.
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackageManifest;
}
