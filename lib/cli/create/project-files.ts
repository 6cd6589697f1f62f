/** All files of a new project, by its options. Prettier would change none of them. */
import { accountFiles } from "./account-files.js";
import { applicationFiles } from "./application-files.js";
import { databaseFiles } from "./database-files.js";
import { documentFiles } from "./document-files.js";
import { noteFiles } from "./note-files.js";
import type { ProjectOptions } from "./options.js";
import { toApplicationSpec } from "./application-spec.js";
import { pageFiles } from "./page-files.js";
import type { ProjectFile } from "./project-file.js";
import { settingFiles } from "./setting-files.js";

export function projectFiles(options: ProjectOptions, now: Date): readonly ProjectFile[] {
  return [
    ...settingFiles(options),
    ...documentFiles(options),
    ...applicationFiles(options),
    ...databaseFiles(options, now),
    ...noteFiles(options),
    ...accountFiles(options),
    ["src/app.spec.ts", toApplicationSpec(options)],
    ...pageFiles(options),
  ];
}
