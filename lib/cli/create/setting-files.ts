/** The files that tools read: packages, compiler, git, the environment, the image. */
import { readFileSync } from "node:fs";
import type { ProjectOptions } from "./options.js";
import { toText, type ProjectFile } from "./project-file.js";

/** The package whose manifest has the versions that this release is tested with. */
const PACKAGE = new URL("../../../../package.json", import.meta.url);

/** Packages of front ends that the framework itself is not tested with. */
const FRONT_END_RANGES: Readonly<Record<string, string>> = {
  "@inertiajs/svelte": "^3.7.1",
  "@inertiajs/vue3": "^3.7.1",
  "@sveltejs/vite-plugin-svelte": "^7.0.0",
  "@vitejs/plugin-vue": "^6.0.0",
  "@types/chai": "^5.2.3",
  svelte: "^5.0.0",
  vue: "^3.5.0",
  "vue-tsc": "^3.0.0",
};

const DATABASE_PACKAGES = { sqlite: [], postgres: ["pg"], mysql: ["mysql2"], none: [] } as const;

const PAGE_PACKAGES = {
  none: [],
  react: ["react", "react-dom", "@inertiajs/react", "@types/react", "@types/react-dom", "@vitejs/plugin-react", "vite"],
  vue: ["vue", "@inertiajs/vue3", "@vitejs/plugin-vue", "vite"],
  svelte: ["svelte", "@inertiajs/svelte", "@sveltejs/vite-plugin-svelte", "vite"],
} as const;

export function settingFiles(options: ProjectOptions): readonly ProjectFile[] {
  return [
    ["package.json", toManifest(options)],
    ["tsconfig.json", toCompilerSettings()],
    [".gitignore", toIgnored(options)],
    [".env.example", toEnvironment(options)],
    ...(options.docker ? [["Dockerfile", toImage(options)] as const] : []),
  ];
}

function toManifest(options: ProjectOptions): string {
  const ranges = createRanges();
  const manifest = {
    name: options.name,
    private: true,
    type: "module",
    engines: { node: needsSqlitePackage(options) ? ">=20.19" : ">=22.16" },
    stagecraft: { app: "src/app.ts" },
    scripts: {
      dev: "stagecraft dev",
      build: "stagecraft build",
      start: "stagecraft start",
      // A release has no specs.
      pretest: options.pages === "none" ? "tsc" : "stagecraft build && tsc",
      test: "mocha",
      format: "prettier --write .",
      "format:check": "prettier --check .",
    },
    prettier: { printWidth: 120 },
    mocha: { spec: "dist/**/*.spec.js", "enable-source-maps": true },
    dependencies: ranges(runTimePackages(options)),
    devDependencies: ranges(developmentPackages(options)),
  };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

function runTimePackages(options: ProjectOptions): readonly string[] {
  return [
    "@stagecraft/framework",
    "zod",
    ...(options.database === "none" ? [] : ["kysely"]),
    ...(needsSqlitePackage(options) ? ["@photostructure/sqlite"] : []),
    ...(options.auth ? ["nodemailer"] : []),
    ...DATABASE_PACKAGES[options.database],
  ];
}

function developmentPackages({ pages }: ProjectOptions): readonly string[] {
  return [
    "typescript",
    "oxc-transform",
    "@types/node",
    "mocha",
    "@types/mocha",
    "chai",
    "@types/chai",
    "prettier",
    ...PAGE_PACKAGES[pages],
  ];
}

/** Node has SQLite built in from 22.16 on. */
function needsSqlitePackage({ database }: ProjectOptions): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return database === "sqlite" && (major < 22 || (major === 22 && minor < 16));
}

function createRanges(): (names: readonly string[]) => Readonly<Record<string, string>> {
  const manifest = JSON.parse(readFileSync(PACKAGE, "utf8")) as {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const tested: Readonly<Record<string, string>> = {
    ...FRONT_END_RANGES,
    ...manifest.dependencies,
    ...manifest.devDependencies,
    "@stagecraft/framework": `^${manifest.version}`,
  };
  return (names) => Object.fromEntries(names.toSorted().map((name) => [name, tested[name] ?? "latest"]));
}

function toCompilerSettings(): string {
  const settings = {
    compilerOptions: {
      target: "ES2022",
      module: "NodeNext",
      rootDir: "src",
      outDir: "dist",
      lib: ["ES2023", "ESNext.Disposable"],
      types: ["node", "mocha"],
      strict: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      skipLibCheck: true,
      sourceMap: true,
    },
    include: ["src"],
  };
  return `${JSON.stringify(settings, undefined, 2).replaceAll(/\[\s+([^\]]*?)\s+\]/g, (_, items: string) => `[${items.replaceAll(/\s+/g, " ")}]`)}\n`;
}

function toIgnored({ database, pages, auth }: ProjectOptions): string {
  return toText(
    "node_modules/",
    "dist/",
    pages !== "none" && "public/build/",
    ".env",
    database === "sqlite" && "*.db*",
    auth && "mails/",
  );
}

function toEnvironment(options: ProjectOptions): string {
  return toText(
    "# Copy this file to .env, which git ignores. `npm run dev` and `npm start` read it.",
    "",
    "# The URL that visitors see.",
    "APP_URL=http://localhost:3000",
    "PORT=3000",
    "# 0.0.0.0 listens to other machines too: a container needs it.",
    "HOST=127.0.0.1",
    ...databaseVariables(options),
    ...(options.auth || options.pages !== "none"
      ? ["", "# Signs cookies and links. A release needs it: npx stagecraft key:generate", "APP_KEY="]
      : []),
    ...(options.auth
      ? [
          "",
          "# The mail server. Without it a release does not start; in development each mail is a file in mails.",
          "SMTP_URL=",
        ]
      : []),
  );
}

export const DATABASE_URLS = {
  postgres: (name: string) => `postgres://postgres:postgres@127.0.0.1:5432/${name}`,
  mysql: (name: string) => `mysql://root:mysql@127.0.0.1:3306/${name}`,
} as const;

function databaseVariables({ database, name }: ProjectOptions): readonly string[] {
  if (database === "none") return [];
  if (database === "sqlite") return ["", "DATABASE_FILE=app.db"];
  return [
    "",
    `DATABASE_URL=${DATABASE_URLS[database](name)}`,
    `# The tests empty this database.`,
    `TEST_DATABASE_URL=${DATABASE_URLS[database](`${name}_test`)}`,
  ];
}

function toImage({ database, pages }: ProjectOptions): string {
  const front = pages === "none" ? "" : " vite.config.js";
  return toText(
    "# Node is the first process of the container, so it gets the signal to stop.",
    "FROM node:24-slim AS build",
    "WORKDIR /app",
    "COPY package.json package-lock.json ./",
    "RUN npm ci",
    `COPY tsconfig.json${front} ./`,
    "COPY src src",
    pages !== "none" && "COPY pages pages",
    "RUN npm run build && npm prune --omit=dev",
    "",
    "FROM node:24-slim",
    "ENV NODE_ENV=production HOST=0.0.0.0 NODE_COMPILE_CACHE=/compiled",
    "WORKDIR /app",
    "COPY --from=build /app/package.json ./",
    "COPY --from=build /app/node_modules node_modules",
    "COPY --from=build /app/dist dist",
    pages !== "none" && "COPY --from=build /app/public public",
    "RUN install -d -o node -g node /compiled",
    // A new volume has the owner of the folder where it is mounted.
    database === "sqlite" && "RUN install -d -o node -g node /data",
    "USER node",
    "# Starts nothing: it writes the compiled code of the application, which each start reads.",
    `RUN node --eval 'import("./dist/app.js")'`,
    "EXPOSE 3000",
    'CMD ["node", "dist/main.js"]',
  );
}
