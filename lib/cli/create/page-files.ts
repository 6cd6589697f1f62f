/** The front end of a new project: Vite, the start of Inertia's client, and a page. */
import { FRONT_ENDS, SIGN_OUT, type FrontEndFiles } from "./front-ends.js";
import type { ProjectOptions } from "./options.js";
import { toText, type ProjectFile } from "./project-file.js";

export function pageFiles(options: ProjectOptions): readonly ProjectFile[] {
  if (options.pages === "none") return [];
  return [
    ["vite.config.js", toViteConfig(options.pages)],
    ["pages/tsconfig.json", toCompilerSettings(options.pages)],
    ...toPages(FRONT_ENDS[options.pages], options),
  ];
}

/** Without accounts a project has no form of them, and none that signs out. */
function toPages({ files, signOut, form }: FrontEndFiles, { auth }: ProjectOptions): readonly ProjectFile[] {
  const pages = files.map(([path, text]) => [path, text.replace(SIGN_OUT, auth ? signOut : "")] as const);
  return auth ? [...pages, form] : pages;
}

type FrontEnd = Exclude<ProjectOptions["pages"], "none">;

const PLUGINS: Readonly<Record<FrontEnd, string>> = {
  react: 'import plugin from "@vitejs/plugin-react";',
  vue: 'import plugin from "@vitejs/plugin-vue";',
  svelte: 'import { svelte as plugin } from "@sveltejs/vite-plugin-svelte";',
};

function toViteConfig(frontEnd: FrontEnd): string {
  return toText(
    PLUGINS[frontEnd],
    'import { defineConfig } from "vite";',
    "",
    "export default defineConfig(({ command }) => ({",
    '  base: command === "build" ? "/build/" : "/",',
    "  plugins: [plugin()],",
    "  publicDir: false,",
    "  build: {",
    '    outDir: "public/build",',
    "    manifest: true,",
    "    // A style or a font in a data: URL is against the policy of the application.",
    "    assetsInlineLimit: 0,",
    `    rolldownOptions: { input: "pages/main.${frontEnd === "react" ? "tsx" : "ts"}" },`,
    "  },",
    "}));",
  );
}

function toCompilerSettings(frontEnd: FrontEnd): string {
  return toText(
    "{",
    '  "extends": "../tsconfig.json",',
    '  "compilerOptions": {',
    '    "module": "preserve",',
    '    "moduleResolution": "bundler",',
    '    "rootDir": "..",',
    frontEnd === "react" && '    "jsx": "react-jsx",',
    '    "lib": ["ES2023", "DOM", "DOM.Iterable"],',
    '    "types": ["vite/client"],',
    '    "noEmit": true',
    "  },",
    '  "include": ["."]',
    "}",
  );
}
